import { skipWithout } from '@backoffice/test-kit'
import t from 'tap'

const later = 'nats-server-later'
const skip = skipWithout(later, 'nats-server of a later suite')

// The same rules on a server as production runs it: what JetStream takes requests on has grown since 2.9.
if (skip) t.test('the rights to streams on a later nats-server', { skip }, async () => {})
else {
  process.env.NATS_SERVER = later
  await import('./stream-rights.test.ts')
}
