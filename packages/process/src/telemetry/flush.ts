import { metrics, ProxyTracerProvider, trace } from '@opentelemetry/api'

export const flushTimeoutMs = 3_000

interface Provider {
  forceFlush?(): Promise<void>
}

/**
 * Sends what the SDK still holds, if there is one. An unavailable collector delays the end of the process by this time
 * at most.
 */
export async function flushTelemetry(): Promise<void> {
  const tracers = trace.getTracerProvider()
  const providers = [
    tracers instanceof ProxyTracerProvider ? tracers.getDelegate() : tracers,
    metrics.getMeterProvider(),
  ] as Provider[]
  const flushed = Promise.allSettled(providers.map((provider) => provider.forceFlush?.()))
  await Promise.race([flushed, new Promise((resolve) => setTimeout(resolve, flushTimeoutMs).unref())])
}
