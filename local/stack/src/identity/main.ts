import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IdentitySettings } from './people.ts'
import { identityProvider } from './provider.ts'

// It lets everybody in. Where the services are not told that this is a developer's machine, it does not even start.
if (process.env.DEVELOPMENT !== 'true')
  throw new Error('the identity provider of npm start runs with DEVELOPMENT=true only')

const [file = ''] = process.argv.slice(2)
const settings = JSON.parse(readFileSync(file, 'utf8')) as IdentitySettings
const server = createServer(identityProvider(settings).callback())
server.listen(settings.port, '127.0.0.1')

process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
