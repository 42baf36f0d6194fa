// proof: what test/cluster/run.sh would make of a cluster, and its smoke test on all services here.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { operations } from '@backoffice/contracts'
import { eventually, reconcile, serveHttp, sharedSystem, startReceiver, verifies } from '@backoffice/test-kit'
import t from 'tap'
import { Cluster, deployCopy, skip } from '../manifests/cluster.ts'
import { documentsIn, kustomizeCommand } from '../manifests/kustomize.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const [program = '', ...args] = kustomizeCommand() ?? []
const read = (file: string) => readFileSync(join(here, file), 'utf8')
const script = read('run.sh')

t.test('what an operator sees of a cluster, seen on this machine', async (t) => {
  const system = await sharedSystem(t)
  const team = await system.asTeam('alice')
  const input = { name: 'Cluster', rateLimitPerMinute: 100_000 }
  const created = await team.call(operations.gateway.createOperator, { input })
  const { key, secret } = created.sandbox

  const { url, received } = await startReceiver(t)
  await team.call(operations.webhooks.setWebhookUrl, {
    input: { operatorId: created.operatorId, environment: 'sandbox', url },
  })

  const smoke = async (environment: Record<string, string>, ...options: readonly string[]) => {
    const program = join(here, '../../packages/client/scripts/smoke.ts')
    const { PATH = '' } = process.env
    const env = { PATH, BASE_URL: system.baseUrl, ...environment }
    const child = spawn(process.execPath, [program, ...options], { env })
    const printed = Promise.all([text(child.stdout), text(child.stderr)])
    const [status] = await once(child, 'close')
    return [status, (await printed).join('')] as const
  }
  const ofSandbox = { OPERATOR_KEY: key, OPERATOR_SECRET: secret ?? '' }

  await t.test('npm run smoke: what it saw, and an exit code; with a key of production it only reads', async (t) => {
    const [status, printed] = await smoke(ofSandbox)
    if (status !== 0) throw new Error(printed)
    t.match(printed, /^ok +\d+ ms {2}a webhook is delivered +the answer was 2/m)
    t.match(printed, /^ok +\d+ ms {2}the withdrawal is paid +paid$/m)
    t.match(printed, /^15 steps were right, in [\d.]+ s, at /m)
    const types = () => received.map(({ body }) => JSON.parse(body).type)
    await eventually(() => types().includes('deposit.confirmed') && types().includes('webhook.test'))
    t.ok(received.every((delivery) => verifies(delivery, created.sandbox.webhookSecret ?? '')))
    t.equal((await reconcile(team)).differencesTotal, 0)
    t.match(await smoke({ ...ofSandbox, OPERATOR_SECRET: 'sk_wrong' }), [
      1,
      /FAILED after 0 steps: 401 INVALID_SIGNATURE.*req_/,
    ])
    const production = {
      OPERATOR_KEY: created.production?.key ?? '',
      OPERATOR_SECRET: created.production?.secret ?? '',
    }
    t.match(await smoke(production), [2, /only with --read-only/])
    t.match(await smoke(production, '--read-only'), [0, /^3 steps were right/m])
    t.match(await smoke({ ...ofSandbox, OPERATOR_KEY: 'gp_test_1' }), [2, /no operator’s/])
    t.match(await smoke({ OPERATOR_KEY: key }), [2, /belong together/])
  })

  await t.test('a proxy that tidies paths does not go unseen', async (t) => {
    const proxy = await serveHttp(t, async (request, response) => {
      const path = decodeURIComponent(request.url ?? '')
      const answer = await fetch(new URL(path, system.baseUrl), { headers: request.headers as Record<string, string> })
      response.writeHead(answer.status).end(await answer.text())
    })
    t.match(await smoke({ ...ofSandbox, BASE_URL: `${proxy}/api/v1` }), [1, /INVALID_SIGNATURE/])
  })
})

t.test('the cluster that run.sh makes', { skip }, async (t) => {
  const work = t.testdir({ test: { cluster: {}, restore: {} } })
  cpSync(deployCopy(), join(work, 'deploy'), { recursive: true })
  cpSync(here, join(work, 'test/cluster'), { recursive: true })
  const build = (folder: string) =>
    new Cluster(
      documentsIn(execFileSync(program, [...args, join(work, folder)], { encoding: 'utf8', maxBuffer: 2 ** 26 })),
    )
  const cluster = build('test/cluster')

  t.notMatch(JSON.stringify(cluster.manifests), 'registry.example', 'it pulls from nobody who is not there')

  t.test('every program of ours is built and loaded, in both releases', async (t) => {
    const [, services = ''] = /^services="(.*)"$/m.exec(script) ?? []
    const [, others = ''] = /for target in \$services (.*); do/.exec(script) ?? []
    const images = cluster.containers.map(({ container }) => container.image as string)
    const ours = [...new Set(images.filter((image) => image.startsWith('backoffice/')))].sort()
    t.same(ours, [...services.split(' '), ...others.split(' ')].map((target) => `backoffice/${target}:first`).sort())
    t.match(script, /sed -i 's\/newTag: first\/newTag: second\/'/)
  })

  t.test('a restore of it builds', async (t) => {
    const text = read('kustomization.yaml').replace('overlays/production', 'overlays/restore/production')
    writeFileSync(join(work, 'test/restore/kustomization.yaml'), text)
    t.ok(build('test/restore').all('Cluster')[0].spec.bootstrap.recovery)
  })
})

t.test('the script has no fault of syntax, and each step and fault that it names', async (t) => {
  execFileSync('sh', ['-n', join(here, 'run.sh')])
  const functions = new Set([...script.matchAll(/^(\w+)\(\) \{/gm)].map(([, name]) => name))
  const [, steps = ''] = /set -- ([a-z ]+) \$\{KEEP/.exec(script) ?? []
  const faults = [...script.matchAll(/^ {2}fault (\w+) \d+$/gm)].map(([, name]) => name)
  t.equal(faults.length, 6)
  for (const name of [...steps.split(' '), 'delete', ...faults]) t.ok(functions.has(name), String(name))
  t.match(readFileSync(join(here, '../../.github/workflows/cluster.yml'), 'utf8'), 'sh test/cluster/run.sh')
})
