import { readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { Server as TlsServer } from 'node:tls'
import { Type } from '@sinclair/typebox'
import { ConfigurationError } from './config.ts'
import type { Logger } from './log.ts'
import { Loop } from './time.ts'

/** A renewed certificate replaces the files of the old one, so they are read again without a restart. */
const readEveryMs = 600_000

/** PEM files of a listener's certificate; with both it speaks TLS. */
export const certificateSettings = {
  TLS_CERT_FILE: Type.Optional(Type.String({ minLength: 1 })),
  TLS_KEY_FILE: Type.Optional(Type.String({ minLength: 1 })),
}

/** PEM. */
export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
}

/**
 * The files of the listener's certificate; undefined for plain HTTP.
 * @throws {ConfigurationError} when only one of the two is set
 */
export function certificateFiles(settings: {
  readonly TLS_CERT_FILE?: string
  readonly TLS_KEY_FILE?: string
}): CertificateFiles | undefined {
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = settings
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined || keyFile === undefined)
    throw new ConfigurationError('TLS_CERT_FILE and TLS_KEY_FILE belong together: set both, or none')
  return { certFile, keyFile }
}

/** Uses the certificate that the files hold now for new connections. */
export async function useCertificate(server: Server, { certFile, keyFile }: CertificateFiles): Promise<void> {
  if (!(server instanceof TlsServer)) throw new Error('the server does not speak TLS')
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)])
  server.setSecureContext({ cert, key })
}

/** Reads the files regularly. If they cannot be used, that is logged and the former certificate stays. */
export function keepCertificateFresh(
  server: Server,
  files: CertificateFiles,
  { log, everyMs = readEveryMs }: { readonly log: Logger; readonly everyMs?: number },
): Loop {
  return new Loop({
    name: 'reading the certificate',
    log,
    everyMs,
    firstAfterMs: everyMs,
    run: () =>
      useCertificate(server, files).catch((error) =>
        log.error({ err: error }, 'the certificate could not be read again; the former one is kept'),
      ),
  })
}
