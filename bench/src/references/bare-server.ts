// The simplest HTTP server: Fastify with one route and a constant reply.
import fastify from 'fastify'
import './ends-with-parent.ts'

const { path, body } = JSON.parse(process.argv[2] ?? '') as { path: string; body: unknown }

const app = fastify()
app.get(path, async () => body)
const address = await app.listen({ host: '127.0.0.1', port: 0 })
process.send?.(address)
