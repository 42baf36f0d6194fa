// proof: runs the deploy script against a stand-in, which a change of deploy/k8s needs, and no change of a service.

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isMeant, kustomizeCommand, type Manifest } from './kustomize.ts'
import { deployCopy, rendered, skip } from './rendered.ts'
import { nameOf } from './schemas.ts'

const component = 'app.kubernetes.io/component'
const isProgram = ({ metadata }: Manifest) => ['service', 'games', 'console'].includes(metadata.labels?.[component])

t.test('the deploy script', { skip }, async (t) => {
  const dir = t.testdir({ bin: {} })
  const overlay = join(deployCopy(), 'k8s/overlays/production')
  const { manifests } = rendered('production')
  const [, version] =
    /VERSION=([\d.]+)/.exec(readFileSync(join(deployCopy(), 'k8s/components/release/kustomization.yaml'), 'utf8')) ?? []
  writeFileSync(join(dir, 'rendered.yaml'), manifests.map((manifest) => JSON.stringify(manifest)).join('\n---\n'))

  /**
   * Stands for kubectl and its cluster: notes what it is asked, and answers with what is in `answers`. A Job is running
   * when it is first asked about.
   */
  const kubectl = join(dir, 'bin/kubectl')
  writeFileSync(
    kubectl,
    `#!/bin/sh
cd '${dir}'
printf '%s\\n' "$(printf '%s\\037' "$@")" >> asked
case "$*" in
  kustomize*) cat rendered.yaml ;;
  *'get job -l ${component}=migration'*|*'get job -l ${component}=preflight'*)
    case "$*" in *migration*) job=migration ;; *) job=preflight ;; esac
    if [ -e "$job.seen" ]; then cat "answers/$job"; else touch "$job.seen"; echo "$job-1.1.0 "; fi ;;
  *'create -f -'*) cat > lease; cat answers/taken; ! [ -s answers/taken ] ;;
  *'get envoypatchpolicy'*) cat answers/patched ;;
  *'wait cluster/'*) ! [ -s answers/database ] ;;
  *'get deployment'*spec.replicas*) cat answers/stopped ;;
  *'get deployment'*) printf 'deployment.apps/gateway\\ndeployment.apps/wallet\\n' ;;
  *'rollout status'*) ! grep -qx "$5" answers/stuck ;;
  *logs*) echo 'the last words of the Job' ;;
esac
`,
  )
  chmodSync(kubectl, 0o755)

  interface Cluster {
    readonly migration?: string
    readonly preflight?: string
    /** What does not come up. */
    readonly stuck?: string
    /** What has 0 replicas. */
    readonly stopped?: string
    /** What somebody else's Lease says. */
    readonly taken?: string
    /** What is wrong with PostgreSQL. */
    readonly database?: string
    readonly patched?: string
  }
  const complete = (job: string) => `${job}-1.1.0 SuccessCriteriaMet,Complete,`
  function run(
    args: readonly string[],
    { migration, preflight, stuck = '', stopped = '', taken = '', database = '', patched = 'True' }: Cluster = {},
    environment = {},
    script = join(deployCopy(), 'k8s/deploy.sh'),
  ) {
    for (const file of ['asked', 'migration.seen', 'preflight.seen', 'answers'])
      rmSync(join(dir, file), { recursive: true, force: true })
    mkdirSync(join(dir, 'answers'))
    writeFileSync(join(dir, 'answers/migration'), `${migration ?? complete('migration')}\n`)
    writeFileSync(join(dir, 'answers/preflight'), `${preflight ?? complete('preflight')}\n`)
    writeFileSync(join(dir, 'answers/stuck'), `${stuck}\n`)
    for (const [name, answer] of Object.entries({ stopped, taken, database, patched }))
      writeFileSync(join(dir, 'answers', name), answer)
    const env = {
      ...process.env,
      PATH: `${join(dir, 'bin')}:${process.env.PATH}`,
      POLL_SECONDS: '0.1',
      OPERATOR_SECONDS: '0',
      JOB_TIMEOUT: '30',
      SKIP_DIGESTS: 'true',
      ...environment,
    }
    const result = spawnSync('sh', [script, overlay, ...args], { encoding: 'utf8', env })
    const asked = existsSync(join(dir, 'asked')) ? readFileSync(join(dir, 'asked'), 'utf8') : ''
    const calls = asked
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\u001f').slice(0, -1))
    return { status: result.status, printed: `${result.stdout}${result.stderr}`, calls }
  }

  /** The manifests that the calls apply, in their order. */
  const applied = (calls: readonly (readonly string[])[]) =>
    calls
      .filter(([verb]) => verb === 'apply')
      .map((call) => manifests.filter((manifest) => isMeant(manifest, call.at(-1) ?? '')))
  const kinds = (stage: readonly Manifest[] | undefined, kind: string) =>
    (stage ?? []).filter((manifest) => manifest.kind === kind).map(({ metadata }) => metadata.name)
  const order = (calls: readonly (readonly string[])[]) => calls.map((call) => call.join(' '))

  await t.test(
    'forward: everything is applied once, services last, each step when the one before is done',
    async (t) => {
      const { status, printed, calls } = run([])
      t.equal(status, 0, printed)
      const stages = applied(calls)
      t.equal(stages.length, 4)
      t.same(stages.flat().map(nameOf).sort(), manifests.map(nameOf).sort(), 'all of it')
      const [backends, preflight, migration, programs] = stages
      t.same(kinds(backends, 'StatefulSet'), ['nats'])
      t.same(kinds(backends, 'Job'), [])
      t.equal(kinds(preflight, 'Job').length, 9)
      for (const name of kinds(preflight, 'Job')) t.match(name, new RegExp(`^preflight-.*-${version}$`))
      t.same(kinds(migration, 'Job'), [`migrate-${version}`])
      t.ok(kinds(programs, 'Deployment').length === 8 && programs?.every(isProgram))
      const steps = order(calls)
      const at = (text: string) => steps.findIndex((step) => step.includes(text))
      t.ok(at('rollout status statefulset/nats') < at('delete job'), 'NATS has its permissions before a Job runs')
      for (const job of ['preflight', 'migration']) {
        const removed = at(`delete job -l ${component}=${job} `)
        t.ok(removed >= 0, job)
        t.match(steps[removed + 1], `-l ${component}=${job}`, 'the one before is removed, then the new one applied')
        t.match(steps[removed + 1], /^apply /)
      }
      t.ok(steps.filter((step) => step.includes(`get job -l ${component}=migration`)).length >= 2, 'it waits')
      t.same(
        steps.slice(-5, -3).map((step) => step.replace(/ --timeout.*/, '')),
        ['deployment.apps/gateway', 'deployment.apps/wallet'].map((name) => `-n backoffice rollout status ${name}`),
      )
    },
  )

  await t.test('an overlay without preflight Jobs waits for none', async (t) => {
    const without = manifests.filter(({ metadata }) => metadata.labels?.[component] !== 'preflight')
    const all = readFileSync(join(dir, 'rendered.yaml'))
    writeFileSync(join(dir, 'rendered.yaml'), without.map((manifest) => JSON.stringify(manifest)).join('\n---\n'))
    const { status, printed, calls } = run([], { preflight: '' })
    writeFileSync(join(dir, 'rendered.yaml'), all)
    t.equal(status, 0, printed)
    t.same(
      order(calls).filter((call) => call.includes(`delete job -l ${component}=preflight`)),
      [],
    )
    t.ok(order(calls).some((call) => call.includes(`delete job -l ${component}=migration`)))
  })

  await t.test(
    'a Job that fails ends it at once, with the last lines of its log, and no service is touched',
    async (t) => {
      for (const [job, answer] of [
        ['migration', { migration: 'migration-1.1.0 FailureTarget,Failed,' }],
        ['preflight', { preflight: `${complete('preflight')}\npreflight-database-1.1.0 Failed,` }],
      ] as const) {
        const { status, printed, calls } = run([], answer)
        t.equal(status, 1)
        t.match(printed, 'the last words of the Job')
        t.match(printed, new RegExp(`failed: ${job}`))
        t.same(applied(calls).flat().filter(isProgram), [])
      }
    },
  )

  await t.test(
    'a Job that never ends is not waited for for ever, and one that is half done is no success',
    async (t) => {
      const { status, printed, calls } = run(
        [],
        { preflight: `${complete('preflight')}\npreflight-database-1.1.0 ` },
        { JOB_TIMEOUT: '1' },
      )
      t.equal(status, 1)
      t.match(printed, /not complete in time/)
      t.same(kinds(applied(calls).flat(), 'Job').includes(`migrate-${version}`), false)
    },
  )

  await t.test('a service that does not come up is a failure', async (t) => {
    const { status, printed } = run([], { stuck: 'deployment.apps/wallet' })
    t.equal(status, 1)
    t.match(printed, /deployment.apps\/wallet is not rolled out/)
  })

  await t.test('it does not end well while something has 0 replicas, which no autoscaler brings back', async (t) => {
    for (const direction of ['forward', 'back']) {
      const { status, printed } = run([direction], { stopped: 'gateway ' })
      t.equal(status, 1, direction)
      t.match(printed, /0 replicas: gateway/)
      t.notMatch(printed, /== done/)
    }
  })

  await t.test('back: services first, then the permissions of NATS, and no Job', async (t) => {
    const { status, printed, calls } = run(['back'])
    t.equal(status, 0, printed)
    const [programs, backends, ...more] = applied(calls)
    t.same(more, [])
    t.ok(programs?.every(isProgram))
    t.ok(kinds(backends, 'ConfigMap').some((name: string) => name.startsWith('nats-configuration')))
    t.same(kinds([...(programs ?? []), ...(backends ?? [])], 'Job'), [])
    const steps = order(calls)
    const rolled = steps.findIndex((step) => step.includes('rollout status deployment.apps/wallet'))
    const permitted = steps.findLastIndex((step) => step.startsWith('apply'))
    t.ok(rolled < permitted, 'only when the older services run')
    t.equal(run(['back'], { stuck: 'deployment.apps/gateway' }).calls.filter(([verb]) => verb === 'apply').length, 1)
  })

  await t.test('it rolls out a release only from a checkout that has the programs of that release', async (t) => {
    const checkout = t.testdir({ deploy: { k8s: {} }, services: { gateway: 'of the release' } })
    const script = join(checkout, 'deploy/k8s/deploy.sh')
    copyFileSync(join(deployCopy(), 'k8s/deploy.sh'), script)
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@backoffice.invalid', ...args], {
        cwd: checkout,
      })
    git('init', '--quiet')
    git('add', '--all')
    git('commit', '--quiet', '--message', 'A release')
    const rolled = (direction: string, environment = {}) => run([direction], {}, environment, script)
    const refused = (why: string) => {
      const { status, printed, calls } = rolled('forward')
      t.equal(status, 1, why)
      t.match(printed, new RegExp(`the images of ${version}, and v${version} is not what is checked out`))
      t.same(applied(calls), [])
    }
    refused('there is no such release')
    git('tag', `v${version}`)
    t.equal(rolled('forward').status, 0)
    writeFileSync(join(checkout, 'deploy/k8s/values.env'), 'what an installation chooses')
    t.equal(rolled('forward').status, 0)
    writeFileSync(join(checkout, 'services/gateway'), 'of today')
    refused('the programs have changed since')
    t.equal(rolled('back').status, 0, 'to the images of before, from the checkout of now')
    t.equal(rolled('forward', { SKIP_VERSION: 'true' }).status, 0)
  })

  await t.test('production takes no image by its tag', async (t) => {
    const { status, printed, calls } = run([], {}, { SKIP_DIGESTS: '' })
    t.equal(status, 1)
    for (const image of ['backoffice/gateway:', 'nats:', 'postgresql:']) t.match(printed, image)
    t.same(applied(calls), [])
    const all = readFileSync(join(dir, 'rendered.yaml'), 'utf8')
    const digest = `@sha256:${'0'.repeat(64)}`
    const named = /("image(?:Name)?":"[^"]+)"/g
    writeFileSync(join(dir, 'rendered.yaml'), all.replaceAll(named, `$1${digest}"`))
    t.equal(run([], {}, { SKIP_DIGESTS: '' }).status, 0)
    writeFileSync(join(dir, 'rendered.yaml'), all)
  })

  await t.test('one roll-out at a time: a second one applies nothing, and leaves the lock of the first', async (t) => {
    for (const direction of ['forward', 'back']) {
      const { status, printed, calls } = run([direction], { taken: 'bob, since noon' })
      t.equal(status, 1)
      t.match(printed, /another roll-out is under way/)
      t.same(applied(calls), [])
      t.notOk(order(calls).some((call) => call.includes('delete lease')))
      for (const answers of [{}, { stuck: 'deployment.apps/wallet' }]) {
        const last = order(run([direction], answers).calls).at(-1)
        t.match(last, 'delete lease roll-out', 'however it ends')
      }
    }
    t.match(JSON.parse(readFileSync(join(dir, 'lease'), 'utf8')), {
      kind: 'Lease',
      spec: { holderIdentity: /since 20/ },
    })
  })

  await t.test('no migration runs into an upgrade of PostgreSQL, and NATS has its time to start', async (t) => {
    const { status, printed, calls } = run([], { database: 'rolling' })
    t.equal(status, 1)
    t.match(printed, /PostgreSQL is not Ready/)
    t.same(kinds(applied(calls).flat(), 'Job'), [])
    const { spec } = rendered('production').find('StatefulSet', 'nats')
    const { failureThreshold, periodSeconds } = spec.template.spec.containers[0].startupProbe
    const [minutes] = order(calls).flatMap((call) => /statefulset\/nats --timeout=(\d+)m/.exec(call)?.[1] ?? [])
    t.ok(Number(minutes) * 60 > spec.replicas * failureThreshold * periodSeconds, `${minutes} minutes`)
  })

  await t.test('it does not end well while Envoy tidies paths, which are signed', async (t) => {
    const { status, printed } = run([], { patched: 'False' }, { POLL_SECONDS: '0' })
    t.equal(status, 1)
    t.match(printed, /Envoy does not have the patch/)
  })

  await t.test('a word that it does not know applies nothing', async (t) => {
    const { status, calls } = run(['backwards'])
    t.equal(status, 1)
    t.same(applied(calls), [])
  })

  await t.test(
    'kubectl itself understands every call',
    { skip: kustomizeCommand()?.[0] !== 'kubectl' && 'needs kubectl' },
    async (t) => {
      const failing = run([], { migration: 'migration-1.1.0 Failed,' }).calls
      const calls = [...run([]).calls, ...failing].filter(([verb]) => verb !== 'kustomize')
      const different = new Map(calls.map((call) => [call.join(' ').replace(/\S*tmp\.\S*/, 'x'), call]))
      const env = { ...process.env, KUBECONFIG: '/dev/null' }
      for (const [words, call] of different) {
        const there = call.map((word) => (word.includes('/tmp.') ? join(dir, 'rendered.yaml') : word))
        // Nobody is there: what it says is that, and nothing about the words.
        const input = readFileSync(join(dir, 'lease'))
        const { stderr } = spawnSync('kubectl', ['--server=http://127.0.0.1:9', ...there], {
          encoding: 'utf8',
          env,
          input,
        })
        t.match(stderr, /refused/, words)
      }
    },
  )
})
