import t from 'tap'
import { serviceCommand } from '../src/service-command.ts'

t.test('a service starts from the sources, with its telemetry loaded first', async (t) => {
  const { command, args } = serviceCommand('wallet', {})
  t.equal(command, process.execPath)
  t.equal(args.at(-3), '--import', 'before the program')
  t.match(args.at(-1), /services\/wallet\/src\/main\.ts$/)
})

t.test(
  'with SERVICE_IMAGES it starts from its image, confined, and with the settings but not this machine',
  async (t) => {
    const env = {
      SERVICE_IMAGES: 'registry.example/{service}:1',
      NATS_USER: 'wallet',
      LOG_LEVEL: 'debug',
      OTEL_METRICS_EXPORTER: 'prometheus',
      PATH: '/bin',
      POSTGRES_URL: 'of the administrator',
      NATS_PASSWORD_BOB: 'of somebody else',
      SOME_TOKEN: 'of whoever runs this',
      NODE_OPTIONS: '--x',
    }
    const { command, args } = serviceCommand('wallet', env)
    t.equal(command, 'docker')
    t.equal(args.at(-1), 'registry.example/wallet:1')
    for (const flag of ['--read-only', '--cap-drop=ALL', '--network=host', 'NATS_USER']) t.ok(args.includes(flag), flag)
    for (const name of ['LOG_LEVEL', 'OTEL_METRICS_EXPORTER']) t.ok(args.includes(name), name)
    for (const name of ['PATH', 'NODE_OPTIONS', 'POSTGRES_URL', 'NATS_PASSWORD_BOB', 'SOME_TOKEN'])
      t.notOk(args.includes(name), name)
  },
)
