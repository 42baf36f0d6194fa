import t from 'tap'
import { parseOptions, shortForm } from './options.ts'
import { isKill, planFaults, replicaNames } from './plan.ts'
import { Random } from './random.ts'

const longForm = parseOptions(['--seed', 'one'])
const planOf = (seed: string) => planFaults(new Random(seed), longForm)

t.test('the same seed plans the same faults, and another seed others', async (t) => {
  t.same(planOf('one'), planOf('one'))
  t.notSame(planOf('one'), planOf('two'))
})

t.test('the long form has at least 100 kills and 30 freezes, and leaves nothing out', async (t) => {
  const plan = planOf('one')
  t.ok(plan.filter(isKill).length >= 100)
  const frozen = plan.filter(({ kind }) => kind === 'freeze')
  t.ok(frozen.length >= 30)
  t.ok(frozen.every((fault) => 'forMs' in fault && fault.forMs >= 1_000 && fault.forMs <= 30_000))
  for (const part of [...replicaNames, 'nats', 'postgres']) {
    t.ok(
      plan.some((fault) => isKill(fault) && fault.part === part),
      `${part} is killed`,
    )
    t.ok(
      plan.some((fault) => fault.kind === 'freeze' && fault.part === part),
      `${part} is frozen`,
    )
  }
  t.same([...new Set(plan.map(({ kind }) => kind))].sort(), [
    'clock',
    'cut',
    'delay',
    'freeze',
    'kill',
    'killSession',
    'loseLatest',
    'wipe',
  ])
})

t.test('the short form ends in its time', async (t) => {
  const plan = planFaults(new Random('one'), shortForm)
  t.equal(plan.filter(isKill).length, shortForm.kills)
  t.ok(plan.every(({ atMs }) => atMs <= shortForm.durationMs))
})

t.test('what one stream chooses does not depend on another', async (t) => {
  const [alone, beside] = [new Random('one'), new Random('one')]
  beside.stream('other').integer(0, 10)
  beside.integer(0, 10)
  const numbers = (random: Random) => Array.from({ length: 20 }, () => random.integer(0, 1_000))
  t.same(numbers(alone.stream('clients')), numbers(beside.stream('clients')))
  t.notSame(numbers(alone.stream('clients')), numbers(alone.stream('faults')))
})

t.test('an option that is not well formed is refused with the usage', async (t) => {
  for (const args of [['--minutes', 'many'], ['--kills', '0'], ['--unknown']]) {
    t.throws(() => parseOptions(args), /npm run chaos -- \[options\]/)
  }
})
