import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { generate as Generate } from 'selfsigned'

/** Loaded on first use: hardly any test has certificates. */
const generate: typeof Generate = async (...given) => (await import('selfsigned')).generate(...given)

export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
}

/** A certificate for this machine that is its own authority, as PEM files. */
export async function makeCertificate(dir: string, name: string): Promise<CertificateFiles> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: name }], {
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  })
  return write(dir, name, cert, key)
}

/** A certificate that this authority gave to a client, with that one name. */
export async function makeClientCertificate(
  dir: string,
  name: string,
  { certFile, keyFile }: CertificateFiles,
): Promise<CertificateFiles> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: name }], {
    algorithm: 'sha256',
    ca: { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') },
    extensions: [
      { name: 'extKeyUsage', clientAuth: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: name }] },
    ],
  })
  return write(dir, `client-${name}`, cert, key)
}

function write(dir: string, name: string, cert: string, key: string): CertificateFiles {
  const files = { certFile: join(dir, `${name}.crt`), keyFile: join(dir, `${name}.key`) }
  writeFileSync(files.certFile, cert, { mode: 0o644 })
  writeFileSync(files.keyFile, key, { mode: 0o600 })
  return files
}
