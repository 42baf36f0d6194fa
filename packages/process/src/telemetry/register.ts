// `node --import` loads this before any other module.

// Loading the others takes seconds on a busy machine, and process 1 of a container would not hear a signal meanwhile.
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0))

/**
 * A module that is loaded earlier is never traced. Without a standard OTEL_* setting that names an exporter it loads nothing
 * and costs nothing.
 */
const settings = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_TRACES_EXPORTER', 'OTEL_METRICS_EXPORTER']
const configured = settings.some((name) => !['', 'none'].includes(process.env[name] ?? ''))

if (configured && process.env.OTEL_SDK_DISABLED !== 'true') {
  const { startTelemetry } = await import('./sdk.ts')
  startTelemetry()
}
