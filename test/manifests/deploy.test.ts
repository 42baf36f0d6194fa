// proof: runs the deploy script against a stand-in, which a change of deploy/k8s needs, and no change of a service.

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { deployCopy, rendered, skip } from './cluster.ts'
import { isMeant, type Manifest } from './kustomize.ts'

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

  t.test('forward: all is applied once, services last, each step when the one before is done', async (t) => {
    const { status, printed, calls } = run([])
    t.equal(status, 0, printed)
    const stages = applied(calls)
    const nameOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`
    t.same(stages.flat().map(nameOf).sort(), manifests.map(nameOf).sort(), 'all of it')
    const [backends, preflight, migration, programs, ...more] = stages
    t.same(more, [])
    t.same([kinds(backends, 'StatefulSet'), kinds(backends, 'Job')], [['nats'], []])
    t.equal(kinds(preflight, 'Job').length, 10)
    t.same(kinds(migration, 'Job'), [`migrate-${version}`])
    t.ok(kinds(programs, 'Deployment').length === 9 && programs?.every(isProgram))
    const steps = order(calls)
    const at = (text: string) => steps.findIndex((step) => step.includes(text))
    t.ok(at('rollout status statefulset/nats') < at('delete job'), 'NATS has its permissions before a Job runs')
    for (const job of ['preflight', 'migration'])
      t.match(steps[at(`delete job -l ${component}=${job} `) + 1], new RegExp(`^apply .*-l ${component}=${job}`))
    t.ok(steps.filter((step) => step.includes(`get job -l ${component}=migration`)).length >= 2, 'it waits')
    t.match(steps.at(-1), 'delete lease roll-out')
  })

  t.test('back: services first, then the permissions of NATS, and no Job', async (t) => {
    const { status, printed, calls } = run(['back'])
    t.equal(status, 0, printed)
    const [programs, backends, ...more] = applied(calls)
    t.same(more, [])
    t.ok(programs?.every(isProgram))
    t.ok(kinds(backends, 'ConfigMap').some((name: string) => name.startsWith('nats-configuration')))
    t.same(kinds([...(programs ?? []), ...(backends ?? [])], 'Job'), [])
    const steps = order(calls)
    const rolled = steps.findIndex((step) => step.includes('rollout status deployment.apps/wallet'))
    t.ok(rolled < steps.findLastIndex((step) => step.startsWith('apply')), 'only when the older services run')
  })

  /** What goes wrong, what it says then, and what it has applied by then: nothing, no Job, no program, or all. */
  const faults: readonly {
    readonly what: string
    readonly args?: readonly string[]
    readonly answers?: Cluster
    readonly environment?: Readonly<Record<string, string>>
    readonly says: RegExp
    readonly applies: 'nothing' | 'no migration' | 'no program' | 'all'
  }[] = [
    {
      what: 'a migration fails',
      answers: { migration: 'migration-1.1.0 FailureTarget,Failed,' },
      says: /the last words of the Job[\s\S]*failed: migration/,
      applies: 'no program',
    },
    {
      what: 'one of two preflights fails',
      answers: { preflight: `${complete('preflight')}\npreflight-database-1.1.0 Failed,` },
      says: /failed: preflight/,
      applies: 'no migration',
    },
    {
      what: 'a preflight never ends',
      answers: { preflight: `${complete('preflight')}\npreflight-database-1.1.0 ` },
      environment: { JOB_TIMEOUT: '1' },
      says: /not complete in time/,
      applies: 'no migration',
    },
    {
      what: 'PostgreSQL is being upgraded',
      answers: { database: 'rolling' },
      says: /PostgreSQL is not Ready/,
      applies: 'no migration',
    },
    {
      what: 'a service does not come up',
      answers: { stuck: 'deployment.apps/wallet' },
      says: /deployment.apps\/wallet is not rolled out/,
      applies: 'all',
    },
    {
      what: 'something has 0 replicas, which no autoscaler brings back',
      answers: { stopped: 'gateway ' },
      says: /0 replicas: gateway/,
      applies: 'all',
    },
    {
      what: 'Envoy tidies paths, which are signed',
      answers: { patched: 'False' },
      environment: { POLL_SECONDS: '0' },
      says: /Envoy does not have the patch/,
      applies: 'all',
    },
    {
      what: 'an image is named by its tag',
      environment: { SKIP_DIGESTS: '' },
      says: /backoffice\/gateway:/,
      applies: 'nothing',
    },
    {
      what: 'another roll-out is under way',
      answers: { taken: 'bob, since noon' },
      says: /another roll-out is under way/,
      applies: 'nothing',
    },
    { what: 'a word is unknown', args: ['backwards'], says: /./, applies: 'nothing' },
  ]
  for (const { what, args = [], answers, environment, says, applies } of faults)
    t.test(`it does not end well when ${what}`, async (t) => {
      const { status, printed, calls } = run(args, answers, environment)
      t.equal(status, 1)
      t.match(printed, says)
      t.notMatch(printed, /== done/)
      const made = applied(calls).flat()
      if (applies === 'nothing') t.same(made, [])
      if (applies === 'no migration') t.notOk(kinds(made, 'Job').includes(`migrate-${version}`))
      t.equal(made.some(isProgram), applies === 'all')
      const hasGivenBack = order(calls).some((call) => call.includes('delete lease roll-out'))
      t.equal(hasGivenBack, applies !== 'nothing', 'the lock is given back by who has it')
    })

  t.test('it rolls out a release only from a checkout that has the programs of that release', async (t) => {
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
    t.match(rolled('forward').printed, `v${version} is not what is checked out`, 'there is no such release')
    git('tag', `v${version}`)
    writeFileSync(join(checkout, 'deploy/k8s/values.env'), 'what an installation chooses')
    t.equal(rolled('forward').status, 0)
    writeFileSync(join(checkout, 'services/gateway'), 'of today')
    const { status, calls } = rolled('forward')
    t.equal(status, 1, 'the programs have changed since')
    t.same(applied(calls), [])
    t.equal(rolled('back').status, 0, 'to the images of before, from the checkout of now')
    t.equal(rolled('forward', { SKIP_VERSION: 'true' }).status, 0)
  })
})
