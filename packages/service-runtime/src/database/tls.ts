/**
 * The same connection over TLS, with the server's certificate and name verified against an authority; as it is when no
 * file is given.
 * @param caFile PEM
 */
export function verifiedUrl(url: string, caFile: string | undefined): string {
  if (caFile === undefined) return url
  const verified = new URL(url)
  verified.searchParams.set('sslmode', 'verify-full')
  verified.searchParams.set('sslrootcert', caFile)
  return verified.href
}
