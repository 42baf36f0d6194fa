// For a program that has part of a service's data, but no operations and no messages: the public games. It loads nothing
// of NATS, of MikroORM or of the table of operations, and so needs half the memory of a service.
export { connectPool } from './database/connect.ts'
export type { Database, Db, ReadDb } from './database/db.ts'
export { isPassingFault } from './database/faults.ts'
export { holderOf } from './process/address-holder.ts'
export {
  type CertificateFiles,
  certificateFiles,
  certificateSettings,
  keepCertificateFresh,
  useCertificate,
} from './process/certificate.ts'
export { type Clock, systemClock } from './process/clock.ts'
export { ConfigurationError, loadConfig, secret, serviceConfig } from './process/config.ts'
export { type HealthServer, startHealthServer } from './process/health.ts'
export { createLogger, type Logger } from './process/log.ts'
export { Loop } from './process/loop.ts'
export { requestLimit } from './process/request-limit.ts'
export { type RunningProcess, runProcess } from './process/run-process.ts'
export { waitAtMost } from './process/wait-at-most.ts'
export { flushTelemetry } from './telemetry/flush.ts'
export { durations } from './telemetry/metrics.ts'
