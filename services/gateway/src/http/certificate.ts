import { readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { Server as TlsServer } from 'node:tls'
import type { Logger } from '@backoffice/service-runtime'

/** Renewed certificates are mounted in place of the old ones: they are read again without a restart. */
const readEveryMs = 600_000

export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
}

/** PEM. */
export interface Certificate {
  readonly cert: Buffer
  readonly key: Buffer
}

export async function readCertificate({ certFile, keyFile }: CertificateFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)])
  return { cert, key }
}

/** New connections get the certificate that the files hold now. Answers how to stop. */
export function keepCertificateFresh(server: Server, files: CertificateFiles, log: Logger): () => void {
  if (!(server instanceof TlsServer)) throw new Error('the server does not speak TLS')
  const timer = setInterval(async () => {
    try {
      server.setSecureContext(await readCertificate(files))
    } catch (error) {
      log.error({ err: error }, 'the certificate could not be read again; the former one is kept')
    }
  }, readEveryMs)
  return () => clearInterval(timer)
}
