// What every program of ours is made of, whatever it does. It loads nothing of NATS, of a database or of the table of
// operations.
export { AddressRanges, addressOfHop, callerAddress, holderOf } from './addresses.ts'
export {
  type CertificateFiles,
  certificateFiles,
  certificateSettings,
  keepCertificateFresh,
  useCertificate,
} from './certificate.ts'
export { ConfigurationError, developmentSetting, loadConfig, programSettings, secret } from './config.ts'
export { dateFormat, numberFormat, relativeFormat } from './formatters.ts'
export {
  HttpListener,
  httpFrame,
  type IsTrusted,
  proxySettings,
  requestLimit,
  ServedFile,
  trustedProxies,
} from './http.ts'
export { bePatient, limitsMs, patiently } from './limits.ts'
export { createLogger, type Logger } from './log.ts'
export { type RunningProcess, runProcess, type StartedProgram, type StoppingStep, startProgram } from './program.ts'
export { durations, type Measurement, measurement, measurePool, meter, startMeasuring } from './telemetry/metrics.ts'
export {
  type Clock,
  dayMs,
  firstId,
  hourMs,
  Lane,
  Loop,
  newId,
  pause,
  retry,
  systemClock,
  systemTimers,
  type Timer,
  type Timers,
  waitAtMost,
} from './time.ts'
