import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** More than any ID token that the services take (8 KiB), so that a cookie cannot unfold into much memory. */
const unpackedBytesMax = 16_384

/**
 * An ID token in fewer characters, for a cookie: browsers drop cookies of more than 4 KiB. Base64 hides from the
 * compression that the token is JSON, so its parts are taken out of it first.
 * @throws Error when the token is not written as RFC 7515 says, so that unpacking it would give another one
 */
export function packToken(token: string): string {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const text = deflateRawSync(JSON.stringify([header, payload].map(fromBase64)), { level: 9 }).toString('base64url')
  const packed = `${text}.${signature}`
  if (unpackToken(packed) !== token) throw new Error('the ID token is not in the compact form of a JWS')
  return packed
}

export function unpackToken(packed: string): string {
  const [text = '', signature = ''] = packed.split('.')
  const json = inflateRawSync(Buffer.from(text, 'base64url'), { maxOutputLength: unpackedBytesMax }).toString()
  const parts = (JSON.parse(json) as readonly string[]).map((part) => Buffer.from(part).toString('base64url'))
  return [...parts, signature].join('.')
}

const fromBase64 = (part: string): string => Buffer.from(part, 'base64url').toString()
