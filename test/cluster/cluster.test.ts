// proof: walks the script of a whole cluster with stand-ins, and a journey on all services.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { operations } from '@backoffice/contracts'
import {
  eventually,
  OperatorClient,
  reconcile,
  serveHttp,
  sharedSystem,
  startReceiver,
  verifies,
} from '@backoffice/test-kit'
import t from 'tap'
import { register } from '../journey.ts'
import { Cluster } from '../manifests/cluster.ts'
import { documentsIn, kustomizeCommand, type Manifest } from '../manifests/kustomize.ts'
import { deployCopy, skip } from '../manifests/rendered.ts'
import { faultsOf, nameOf, unknownFields } from '../manifests/schemas.ts'
import { journey, startLoad } from './journey.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../../', import.meta.url))
const [program = '', ...args] = kustomizeCommand() ?? []
const read = (file: string) => readFileSync(join(here, file), 'utf8')
const script = read('run.sh')

t.test('what an operator sees of a cluster, seen on this machine', async (t) => {
  const system = await sharedSystem(t)
  const team = await system.asTeam('alice')
  const input = { name: 'Cluster', rateLimitPerMinute: 100_000 }
  const created = await team.call(operations.gateway.createOperator, { input })
  const { key, secret } = created.sandbox
  const credentials = { key, secret: secret ?? '' }
  const operator = new OperatorClient(system.baseUrl, credentials)
  t.teardown(() => operator.close())

  const { url, received } = await startReceiver(t)
  await team.call(operations.webhooks.setWebhookUrl, {
    input: { operatorId: created.operatorId, environment: 'sandbox', url },
  })

  await t.test('the journey: awkward paths, a deposit, a webhook, books that agree', async (t) => {
    await journey(operator, { webhook: true })
    const types = () => received.map(({ body }) => JSON.parse(body).type)
    await eventually(() => types().includes('deposit.confirmed') && types().includes('webhook.test'))
    t.ok(received.every((delivery) => verifies(delivery, created.sandbox.webhookSecret ?? '')))
    t.equal((await reconcile(team)).differencesTotal, 0)
  })

  await t.test('a proxy that tidies paths does not go unseen', async (t) => {
    const proxy = await serveHttp(t, async (request, response) => {
      const path = decodeURIComponent(request.url ?? '')
      const answer = await fetch(new URL(path, system.baseUrl), { headers: request.headers as Record<string, string> })
      response.writeHead(answer.status).end(await answer.text())
    })
    const through = new OperatorClient(`${proxy}/api/v1`, credentials)
    t.teardown(() => through.close())
    await t.rejects(journey(through, { webhook: false }), /INVALID_SIGNATURE/)
  })

  await t.test('the load counts what had no answer, and what had one', async (t) => {
    const { id } = await register(operator)
    const load = startLoad(operator, id, 10)
    await eventually(async () => (await operator.get(`/players/${id}/wallet`)).body.available !== '0.00')
    const good = await load.stop()
    t.equal(good.failed, 0)
    t.ok(good.requests >= 2)
    let refused = 0
    const rude = await serveHttp(t, (request) => {
      refused += 1
      request.socket.destroy()
    })
    const nobody = new OperatorClient(`${rude}/api/v1`, credentials)
    t.teardown(() => nobody.close())
    const away = startLoad(nobody, id, 1)
    await eventually(() => refused > 5)
    const bad = await away.stop()
    t.equal(bad.failed, bad.requests)
    t.ok(bad.requests > 5)
  })

  await t.test('as a program it ends by SIGTERM, and prints the counts', async (t) => {
    const env = { ...process.env, BASE_URL: system.baseUrl, OPERATOR_KEY: key, OPERATOR_SECRET: secret ?? '' }
    const child = spawn(process.execPath, [join(here, 'journey.ts'), 'load'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let printed = ''
    child.stdout.on('data', (text) => {
      printed += text
    })
    await once(child.stderr, 'data')
    child.kill('SIGTERM')
    const [code] = await once(child, 'close')
    t.equal(code, 0)
    t.match(JSON.parse(printed), { failed: 0 })
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
  const objects = documentsIn(read('objects.yaml'))
  const cluster = build('test/cluster')

  t.test('is what the schemas say, and pulls from nobody who is not there', async (t) => {
    const documents = [...objects, ...cluster.manifests]
    t.same((await Promise.all(documents.map(faultsOf))).flat(), [])
    const changed = ['Cluster', 'ObjectStore', 'EnvoyProxy'].flatMap((kind) => cluster.all(kind))
    const checked = [...objects, ...changed]
    t.same(
      [...unknownFields(checked)].map(([index, words]) => `${nameOf(checked[index])}: ${words}`),
      [],
    )
    t.notMatch(JSON.stringify(cluster.manifests), 'registry.example')
  })

  t.test('every program of ours is built and loaded, in both releases', async (t) => {
    const [, services = ''] = /^services="(.*)"$/m.exec(script) ?? []
    const [, others = ''] = /for target in \$services (.*); do/.exec(script) ?? []
    const images = cluster.containers.map(({ container }) => container.image as string)
    const ours = [...new Set(images.filter((image) => image.startsWith('backoffice/')))].sort()
    t.same(ours, [...services.split(' '), ...others.split(' ')].map((target) => `backoffice/${target}:first`).sort())
    t.match(script, /sed -i 's\/newTag: first\/newTag: second\/'/)
  })

  t.test('what it names in commands is there', async (t) => {
    const all = [...objects, ...cluster.manifests]
    const kinds: Readonly<Record<string, string>> = {
      statefulset: 'StatefulSet',
      deployment: 'Deployment',
      service: 'Service',
      gateway: 'Gateway',
      cluster: 'Cluster',
    }
    const named = [
      ...script.matchAll(/\b(statefulset|deployment|service|gateway|cluster)[/ ](nats|edge|minio|postgres(?:-b)?)\b/g),
    ]
    t.ok(named.length >= 6)
    for (const [, kind = '', name = ''] of named.filter(([, , name]) => name !== 'postgres-b'))
      t.ok(
        all.some((each) => each.kind === kinds[kind] && each.metadata.name === name),
        `${kind} ${name}`,
      )
    const secrets = cluster.all('Certificate').map(({ spec }) => spec.secretName)
    for (const name of ['api', 'console']) t.ok(secrets.includes(`${name}-edge-tls`))
    const [{ name: claims }] = cluster
      .find('StatefulSet', 'nats')
      .spec.volumeClaimTemplates.map(({ metadata }: Manifest) => metadata)
    t.match(script, `delete pvc ${[0, 1, 2].map((index) => `${claims}-nats-${index}`).join(' ')}`)
    for (const [, selector = ''] of script.matchAll(/\$component in \(([^)]+)\)/g))
      for (const value of selector.split(', '))
        t.ok(
          cluster.manifests.some(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === value),
          value,
        )
    const hosts = cluster.all('HTTPRoute').flatMap(({ spec }) => spec.hostnames)
    for (const [, host] of script.matchAll(/https:\/\/([a-z.]+\.example)/g)) t.ok(hosts.includes(host))
  })

  t.test('the way in, the buckets and the store of secrets are those that the overlay asks for', async (t) => {
    const { infrastructure } = cluster.find('Gateway', 'edge').spec
    const proxy = cluster.find('EnvoyProxy', infrastructure.parametersRef.name)
    t.ok(proxy.spec.provider.kubernetes.envoyDeployment.replicas >= 2, 'as many as are shipped')
    const [{ nodePort }] = proxy.spec.provider.kubernetes.envoyService.patch.value.spec.ports
    for (const [, port] of script.matchAll(/\.example:(\d+)/g)) t.equal(Number(port), nodePort)
    const environment = cluster.environment(cluster.container('reconciler').container)
    t.match(script, `heads-bucket.sh" ${environment.HEADS_BUCKET} ${environment.HEADS_BUCKET_REGION} `)
    const { destinationPath } = cluster.all('ObjectStore')[0].spec.configuration
    t.match(script, `create-bucket --bucket ${new URL(destinationPath).hostname}`)
    const keys = cluster
      .all('ExternalSecret')
      .flatMap(({ spec }) => [
        ...(spec.data ?? []).map(({ remoteRef }: Manifest) => remoteRef.key),
        ...(spec.dataFrom ?? []).map(({ extract }: Manifest) => extract.key),
      ])
    for (const key of new Set(keys)) t.match(script, `"${key}":`)
    for (const [, file = ''] of script.matchAll(/\$k8s\/([\w./-]+)/g))
      t.ok(existsSync(join(work, 'deploy/k8s', file)), file)
  })

  t.test('a restore of it builds', async (t) => {
    const text = read('kustomization.yaml').replace('overlays/production', 'overlays/restore/production')
    writeFileSync(join(work, 'test/restore/kustomization.yaml'), text)
    t.ok(build('test/restore').all('Cluster')[0].spec.bootstrap.recovery)
  })
})

const reportOf = (check: string) => JSON.stringify({ checks: [{ check, compared: 1, differences: 1 }] })

t.test(
  'the script goes from its first to its last step, with stand-ins for what a machine here has not',
  { skip },
  async (t) => {
    const dir = t.testdir({ bin: {} })
    const standIn = (program: string, lines: string) =>
      writeFileSync(join(dir, 'bin', program), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
    // In one write: of two in a pipe neither comes between the words of the other.
    const note = (program: string) => `printf '%s\\n' "${program}$(printf '\\037%s' "$@")" >> '${dir}/asked'`
    for (const name of ['kind', 'docker', 'helm', 'aws', 'sudo', 'mkfs.ext4']) standIn(name, note(name))
    standIn(
      'kubectl',
      `[ "$1" != kustomize ] || { shift; exec ${[execFileSync('which', [program], { encoding: 'utf8' }).trim(), ...args].join(' ')} "$@"; }
${note('kubectl')}
case "$*" in
  *port-forward*) exec ${process.execPath} -e 'setTimeout(() => {}, 60_000)' ;;
  *'get job'*) echo 'job Complete,' ;;
  *'get deployment'*' -o name') echo deployment.apps/gateway ;;
  *'get node'*' -o name') printf 'node/a\\nnode/b\\n' ;;
  *currentPrimary*) printf postgres-1 ;;
  *'get secret pager'*) echo a2V5 ;;
  *'get storageclass'*) printf WaitForFirstConsumer ;;
  *'get envoypatchpolicy'*) printf True ;;
  *spec.secretName*) echo api-edge-tls nats-tls ;;
  *last_archived*) echo t ;;
  *'count('*) echo 5 ;;
esac`,
    )
    standIn(
      'node',
      `case "$1" in packages/team/*|test/cluster/*) ;; *) exec '${process.execPath}' "$@" ;; esac
${note('node')}
case "$*" in
  *' reconcile '*--json*) echo "$REPORT"; exit 1 ;;
  *create*) echo '{"sandbox":{"key":"k","secret":"s"}}' ;;
  *load) exec '${process.execPath}' -e 'process.on("SIGTERM", () => { console.log("{\\"requests\\":200,\\"failed\\":0,\\"awaySeconds\\":0}"); process.exit() }); setTimeout(() => {}, 60_000)' ;;
esac`,
    )
    // Long enough for the stand-in of the load to hear a signal.
    standIn('sleep', `${note('sleep')}\nexec ${process.execPath} -e 'setTimeout(() => {}, 500)'`)
    const env = {
      ...process.env,
      PATH: `${dir}/bin:${process.env.PATH}`,
      WORK: join(dir, 'work'),
      WEBHOOK_URL: 'https://a.example',
      REPORT: reportOf('exportedHeads'),
    }
    const run = (step: readonly string[], others = {}) =>
      spawnSync('sh', [join(here, 'run.sh'), ...step], { encoding: 'utf8', env: { ...env, ...others } })
    const { status, stderr } = run([])
    t.equal(status, 0, stderr)
    t.notMatch(stderr, 'no webhook')
    const calls = [...new Set(readFileSync(join(dir, 'asked'), 'utf8').split('\n'))].map((line) => line.split('\u001f'))

    t.test('kubectl itself understands every call', { skip: program !== 'kubectl' && 'needs kubectl' }, async (t) => {
      const asked = calls.filter(
        ([name, ...words]) => name === 'kubectl' && !/-f -|https:|\.yaml|tmp\./.test(words.join(' ')),
      )
      t.ok(asked.length > 30)
      for (const [, ...words] of asked) {
        const nobody = ['--server=http://127.0.0.1:9', ...words]
        const { status, stderr } = spawnSync('kubectl', nobody, {
          encoding: 'utf8',
          env: { ...process.env, KUBECONFIG: '/dev/null' },
        })
        t.ok(status === 0 || /refused/.test(stderr), `${words.join(' ')}: ${stderr}`)
      }
    })

    t.test('without an address it says that no webhook was seen', async (t) => {
      t.match(run(['journey'], { WEBHOOK_URL: '' }).stderr, /== \S+ no webhook: .*WEBHOOK_URL/)
    })

    t.test('a restore compares as the guide says, and ends where more differs than what was undone', async (t) => {
      const guide = readFileSync(join(root, 'docs/runbooks/restore.md'), 'utf8')
      const words = calls.map((call) => call.join(' '))
      const at = (part: string) => words.findIndex((each) => each.includes(part))
      const selectors = [...guide.matchAll(/kubectl apply -k \S+SIZE -l '([^']+)'/g)].map(
        ([, selector = '']) => selector,
      )
      const [backends = '', compared = ''] = selectors
      const steps = [`-l ${backends}`, `-l ${compared}`, 'reconcile --restored-to', 'reconcile --full --json'].map(at)
      t.same(
        steps.toSorted((one, other) => one - other),
        steps,
      )
      t.notOk(steps.includes(-1))
      const { status } = run(['restore'], { REPORT: reportOf('balances') })
      t.not(status, 0)
    })

    t.test('the command line of the team knows every option', async (t) => {
      const commands = calls.filter(([name, file]) => name === 'node' && file?.startsWith('packages/team/'))
      t.equal(commands.length, 5)
      for (const [, file = '', noun = '', verb = '', ...words] of commands) {
        const help = execFileSync(process.execPath, [file, noun, verb, '--help'], { cwd: root, encoding: 'utf8' })
        for (const option of words.filter((word) => word.startsWith('--')))
          t.match(help, `${option} `, `${noun} ${verb}`)
      }
    })
  },
)

t.test('the script has no fault of syntax, and each step and fault that it names', async (t) => {
  execFileSync('sh', ['-n', join(here, 'run.sh')])
  const functions = new Set([...script.matchAll(/^(\w+)\(\) \{/gm)].map(([, name]) => name))
  const [, steps = ''] = /set -- ([a-z ]+) \$\{KEEP/.exec(script) ?? []
  const faults = [...script.matchAll(/^ {2}fault (\w+) \d+$/gm)].map(([, name]) => name)
  t.equal(faults.length, 6)
  for (const name of [...steps.split(' '), 'delete', ...faults]) t.ok(functions.has(name), String(name))
  t.match(readFileSync(join(here, '../../.github/workflows/cluster.yml'), 'utf8'), 'sh test/cluster/run.sh')
})
