import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import t from 'tap'
import { freePort, portIsFree } from '../src/ports.ts'

const outgoingPorts = '/proc/sys/net/ipv4/ip_local_port_range'
const skip = existsSync(outgoingPorts) ? false : 'this system does not say which ports outgoing connections get'

t.test('a free port is none that an outgoing connection may take before it is used', { skip }, async (t) => {
  const [lowest = 0] = readFileSync(outgoingPorts, 'utf8').trim().split(/\s+/).map(Number)
  for (let index = 0; index < 20; index += 1) t.ok((await freePort()) < lowest)
})

t.test('a port on which somebody listens is not free', async (t) => {
  const port = await freePort()
  t.equal(await portIsFree(port), true)
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.equal(await portIsFree(port), false)
  await new Promise((resolve) => server.close(resolve))
})
