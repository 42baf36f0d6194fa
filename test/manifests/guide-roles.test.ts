// proof: types every command of the guide, as each of the roles.

import t, { type Test } from 'tap'
import { functions, type GuideCommand, type GuideSection, roles, sections } from './guide.ts'
import { people, Terminals, type TypedCommand } from './guide-typed.ts'
import { kustomizeCommand } from './kustomize.ts'
import { skip } from './rendered.ts'

// Types what the guide says, with the real kubectl, before a server that knows the rendered objects, roles and policies.

const names = ['kubectl', 'cmctl', 'sh deploy/k8s', ...functions.map((text) => text.split('(')[0])].join('|')
const asksTheCluster = ({ text }: GuideCommand) => new RegExp(`(?:^|[ ;(])(?:${names}) `).test(text)

/** A shell or a port goes on where nobody is behind the server, and `grep` may find nothing. */
const isDone = ({ status, refused, printed, text }: TypedCommand) =>
  refused.length === 0 && (status === 0 || /permitted; no stream goes on/.test(printed) || text.includes('grep'))

/** What a guide says behind `→`, where `…` is anything. */
function isShown({ shows = '', printed }: TypedCommand): boolean {
  const parts = shows.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(parts.join('[^]*'), 'i').test(printed)
}

/** Only people see what these print: they come from a plugin, or out of a pod. */
const isOfPeople = ({ text }: GuideCommand) =>
  /kubectl cnpg|cmctl|kubectl exec|kubectl (-n \S+ )?logs|openssl/.test(text)

const changes =
  /kubectl (?:-n \S+ )?(?:scale|patch|delete|annotate|apply|drain|cnpg (?:destroy|promote|restart|backup))|cmctl renew|deploy\.sh|restart \w+$/

/** Not typed where CloudNativePG is. */
const isOfSmall = ({ where }: GuideSection) => where.includes('`small`')

const deploy = 'sh deploy/k8s/deploy.sh deploy/k8s/overlays/$SIZE'
const nothing = { commands: [], settings: [], edits: [] }

async function type(terminals: Terminals, all: readonly GuideSection[]): Promise<readonly TypedCommand[]> {
  const looked = new Set<string>()
  const typed: TypedCommand[] = []
  for (const { where, commands, settings, edits } of all) {
    const isNew = ({ inBlock, role, text }: GuideCommand) => inBlock || !looked.has(`${role} ${text}`)
    const here = commands.filter((command) => asksTheCluster(command) || /^PG=/.test(command.text)).filter(isNew)
    for (const { role, text } of here) looked.add(`${role} ${text}`)
    // What is written is applied, also where the section only says so.
    if (settings.length + edits.length > 0 && !commands.some(({ role }) => role === 'pipeline'))
      here.push({ where, role: 'pipeline', text: deploy, shows: '…== done…', inBlock: true })
    if (here.some(asksTheCluster))
      typed.push(...(await terminals.type({ commands: here, settings, edits })).filter(asksTheCluster))
  }
  return typed
}

/** Nothing was refused, and what the guide says was printed. */
function worked(t: Test, typed: readonly TypedCommand[]): void {
  const said = ({ where, role, text, printed, refused }: TypedCommand) => ({ where, role, text, printed, refused })
  t.same(typed.filter((command) => !isDone(command)).map(said), [])
  t.same(typed.filter((command) => !isOfPeople(command) && !isShown(command)).map(said), [])
}

t.test(
  'the commands of the guide',
  { skip: skip || (kustomizeCommand()?.[0] !== 'kubectl' && 'needs kubectl') },
  async (t) => {
    const terminals = await Terminals.open(t.testdir(), 'production')
    t.teardown(() => terminals.close())

    t.test('each works for the role that it names, and prints what the guide says', async (t) => {
      const typed = await type(
        terminals,
        sections.filter((section) => !isOfSmall(section)),
      )
      worked(t, typed)
      for (const role of roles) {
        const of = typed.filter((command) => command.role === role)
        const held = of.filter(({ text }) => /cnpg|cmctl/.test(text)).length
        t.comment(`${role}: ${of.length} typed, ${held} of them held against the rights that their plugin needs`)
        t.ok(of.length > 3, role)
      }
    })

    for (const [size, isOfIt] of [
      ['standard', ({ commands }: GuideSection) => commands.some(({ text }) => text.includes('$SIZE'))],
      ['small', isOfSmall],
    ] as const)
      t.test(`what names the size works for ${size}`, async (t) => {
        const others = await Terminals.open(t.testdir(), size)
        t.teardown(() => others.close())
        const typed = await type(
          others,
          sections.filter((section) => isOfIt(section) && (size === 'small' || !isOfSmall(section))),
        )
        t.ok(typed.length > 1)
        worked(t, typed)
      })

    t.test(
      'what changes something stands in a block, and what follows there shows whether it has worked',
      async (t) => {
        const all = sections.flatMap(({ commands }) => commands)
        const among = all.filter(({ inBlock, text }) => !inBlock && changes.test(text))
        t.same(
          among.map(({ where, text }) => `${where}: ${text}`),
          [],
        )
        const blind = sections.flatMap(({ commands }) => {
          const lastChange = commands.findLastIndex(({ text }) => changes.test(text))
          const change = commands[lastChange]
          if (change === undefined || change.shows !== undefined) return []
          return commands.slice(lastChange + 1).some(({ inBlock }) => inBlock)
            ? []
            : [`${change.where}: ${change.text}`]
        })
        t.same(blind, [])
      },
    )

    t.test('an incident: somebody else lets in, and it ends by itself', async (t) => {
      await terminals.type(nothing)
      const bob = (line: string) => terminals.shell('break-glass', line)
      const alice = (line: string) => terminals.shell('on-call', line)
      const look = 'kubectl get pods'
      const shell = 'kubectl annotate externalsecret gateway force-sync=1'
      t.match((await bob(look)).printed, /Forbidden/, 'before it he has no rights at all')

      const own = await alice(`sh deploy/k8s/break-glass.sh incident-41 ${people['on-call'].user}`)
      t.match(own.printed, /one person is let in, by somebody else/)
      t.match((await alice(shell)).printed, /Forbidden/)

      t.match(
        (await bob(`sh deploy/k8s/break-glass.sh incident-42 ${people['break-glass'].user}`)).printed,
        /Forbidden/,
      )
      t.match(
        (await alice('SECONDS_OPEN=28801 sh deploy/k8s/break-glass.sh incident-42 bob')).printed,
        /within eight hours/,
      )
      await terminals.letIn()
      for (const line of [look, shell]) t.equal((await bob(line)).status, 0, line)
      t.match((await bob('sh deploy/k8s/break-glass.sh incident-43 carol')).printed, /Forbidden/, 'he lets nobody in')

      // What Kubernetes does when the time of a finished Job is over.
      t.equal((await alice('kubectl delete job break-glass-incident-42')).status, 0)
      for (const line of [look, shell]) t.match((await bob(line)).printed, /Forbidden/, line)
    })

    t.test('a release is rolled out by the script, and not called done while requests are stopped', async (t) => {
      await terminals.type(nothing)
      const pipeline = (line: string) => terminals.shell('pipeline', line)
      t.equal((await terminals.shell('on-call', 'kubectl scale deployment gateway --replicas=0')).status, 0)
      const stopped = await pipeline(deploy)
      t.equal(stopped.status, 1)
      t.match(stopped.printed, /0 replicas: gateway/)
      t.equal((await terminals.shell('on-call', 'kubectl scale deployment gateway --replicas=3')).status, 0)
      t.match((await pipeline(deploy)).printed, /== done/)
    })

    t.test('people on call make no other binding, and no Job with pods', async (t) => {
      await terminals.type(nothing)
      const alice = (line: string) => terminals.shell('on-call', line)
      const user = '--user=carol@operator.example'
      const made = (line: string) => `kubectl create ${line} --dry-run=client -o yaml | kubectl create -f -`
      for (const [line, message] of [
        [made(`rolebinding other --role=break-glass ${user}`), /one person|must end with the Job/],
        [made(`rolebinding other --role=lets-in ${user}`), /cannot bind lets-in/],
        [made(`clusterrolebinding other --clusterrole=backoffice-neighbours ${user}`), /Forbidden/],
        [made('job break-glass-1 --image=busybox'), /no completions/],
        ['kubectl run shell --image=busybox', /Forbidden/],
        ['kubectl get secrets', /Forbidden/],
      ] as const) {
        const { status, printed } = await alice(line)
        t.equal(status, 1, line)
        t.match(printed, message, line)
      }
    })
  },
)
