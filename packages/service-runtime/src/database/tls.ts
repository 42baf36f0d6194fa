/**
 * The URL of the same connection over TLS, with the server's certificate and name verified. Without a file the URL
 * stays as it is.
 * @param caFile the certificate of the authority, as PEM
 */
export function verifiedUrl(url: string, caFile: string | undefined): string {
  if (caFile === undefined) return url
  const verified = new URL(url)
  verified.searchParams.set('sslmode', 'verify-full')
  verified.searchParams.set('sslrootcert', caFile)
  return verified.href
}
