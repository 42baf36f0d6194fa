// proof: again on the version of production, whose rules change with deploy/nats alone.

import { skipWithout } from '@backoffice/test-kit'
import t from 'tap'

const later = 'nats-server-later'
const skip = skipWithout(later, 'nats-server of a later suite')

// The same rules on a server as production runs it: it reads the main files as they are, and JetStream takes requests on
// more subjects than in 2.9.
if (skip) t.test('configuration and rights to streams on a later nats-server', { skip }, async () => {})
else {
  process.env.NATS_SERVER = later
  await import('./nats-configuration.test.ts')
  await import('./stream-rights.test.ts')
}
