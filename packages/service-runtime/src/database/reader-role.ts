/**
 * The login role with which a service reads: it has the rights and the password of the service's own role, and its
 * sessions refuse to write.
 */
export const readerOf = (role: string): string => `${role}_reader`
