import { readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { Server as TlsServer } from 'node:tls'
import { ConfigurationError, type Logger } from '@backoffice/service-runtime'
import type { GatewayConfig } from '../config.ts'

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

/**
 * Where the listener's certificate is; undefined when it speaks plain HTTP.
 * @throws {ConfigurationError} when only one of the two is set
 */
export function certificateFiles(config: GatewayConfig): CertificateFiles | undefined {
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = config
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined || keyFile === undefined)
    throw new ConfigurationError('TLS_CERT_FILE and TLS_KEY_FILE belong together: set both, or none')
  return { certFile, keyFile }
}

export async function readCertificate({ certFile, keyFile }: CertificateFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)])
  return { cert, key }
}

/** New connections get the certificate that the files hold now. Answers how to stop. */
export function keepCertificateFresh(
  server: Server,
  files: CertificateFiles,
  { log, everyMs = readEveryMs }: { readonly log: Logger; readonly everyMs?: number },
): () => void {
  if (!(server instanceof TlsServer)) throw new Error('the server does not speak TLS')
  const timer = setInterval(async () => {
    try {
      server.setSecureContext(await readCertificate(files))
    } catch (error) {
      log.error({ err: error }, 'the certificate could not be read again; the former one is kept')
    }
  }, everyMs)
  return () => clearInterval(timer)
}
