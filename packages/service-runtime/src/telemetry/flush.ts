import { metrics, ProxyTracerProvider, trace } from '@opentelemetry/api'

const flushTimeoutMs = 3_000

interface Provider {
  forceFlush?(): Promise<void>
}

/** Sends what the SDK still holds, if there is one; a collector that does not answer delays the end only so long. */
export async function flushTelemetry(): Promise<void> {
  const tracers = trace.getTracerProvider()
  const providers = [
    tracers instanceof ProxyTracerProvider ? tracers.getDelegate() : tracers,
    metrics.getMeterProvider(),
  ] as Provider[]
  const flushed = Promise.allSettled(providers.map((provider) => provider.forceFlush?.()))
  await Promise.race([flushed, new Promise((resolve) => setTimeout(resolve, flushTimeoutMs).unref())])
}
