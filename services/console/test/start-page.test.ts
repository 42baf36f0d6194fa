import { operations } from '@backoffice/contracts'
import { webhooks } from '@backoffice/webhooks'
import t from 'tap'
import { chartOf, type Point } from '../src/pieces/chart.ts'
import { consoleBed, type Shown } from './console-bed.ts'

/** As people read it. */
const plain = ({ text }: Pick<Shown, 'text'>): string => text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

t.test('the pictures of the start page', async (t) => {
  const bed = await consoleBed(t, {}, {}, { webhooks })
  const admin = bed.bed.sql('admin')
  const alice = await bed.visitor('alice')
  const young = await bed.newWithdrawal('production', await bed.newPlayer('production'))
  const old = await bed.newWithdrawal('production', await bed.newPlayer('production'), 'bia@example.com', '7.00')
  const applicant = await bed.newPlayer('production', 'Caio Melo')
  await admin.query(
    `begin; set local session_replication_role = replica;
      update payments.withdrawal set created_at = created_at - interval '30 hours' where id = '${old}'; commit`,
  )
  /** The picture of this name on the start page; empty where there is none. */
  const picture = async (name: string, visitor = alice, environment = 'production') =>
    (await visitor.get(`/${environment}`)).text
      .split('<section')
      .find((part) => part.includes(`aria-label="${name}"`)) ?? ''

  await t.test('a queue is drawn by age, and a band leads to what is in it', async (t) => {
    const drawn = await picture('Withdrawals: to review')
    t.match(drawn, /<svg[\s\S]*class="goal"/)
    t.match(plain({ text: drawn }), 'Waiting: 2; longer than the goal of 24 h (dashed line): 1')
    t.match(plain({ text: drawn }), /under 1 h 1 R\$40\.00 .* 24 h or more 1 R\$7\.00/)
    const linked = [...drawn.matchAll(/href="([^"]*age=[^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'))
    t.strictSame(
      linked,
      ['0', '24'].map((age) => `/production/withdrawals?status=under_review&age=${age}`),
    )
    const [recent, late] = await Promise.all(linked.map((path) => alice.get(path)))
    t.match(recent?.text, young)
    t.notMatch(recent?.text, old)
    t.match(late?.text, old)
    t.notMatch(late?.text, young)
    t.match(late?.text, 'Only what waits 24 h or more.')
    t.match(await picture('Withdrawals: to pay'), 'Nothing waits')
    t.match(plain({ text: await picture('Identity checks') }), 'under 1 h 1')
    t.match((await alice.get('/production/kyc?age=0')).text, applicant)
    t.notMatch((await alice.get('/production/kyc?age=24')).text, applicant)
    t.match(await picture('Withdrawals: to review', alice, 'sandbox'), 'Nothing waits', 'the environments are apart')
    t.match(plain(await alice.get('/production', { 'Accept-Language': 'pt-BR' })), '(KYC) 1 caso mais antigo: ')
  })

  await t.test('money of today stands beside the same weekday a week before', async (t) => {
    const day = (ago: number, type: string, amount: number) =>
      `('production', (now() at time zone 'America/Sao_Paulo')::date - ${ago}, 'brd_drawn', 'BRL', '${type}', 1, ${amount})`
    const waiting = await picture('Money in and out by day')
    t.match(waiting, 'are being counted', 'what the players above deposited')
    t.match(await picture('Money in and out by day', alice, 'sandbox'), 'No deposit was confirmed')
    const days = [day(0, 'DEPOSIT', 1_000_000), day(0, 'WITHDRAWAL', 250_000), day(7, 'DEPOSIT', 900_000)]
    await admin.query(`insert into wallet.money_day values ${days.join(', ')}`)
    const drawn = await picture('Money in and out by day (BRL)')
    const said = 'R$10,000.00 in, R$2,500.00 out, R$7,500.00 net'
    t.match(
      plain({ text: drawn }),
      `Today so far: ${said}. On this weekday a week ago, all day: R$9,000.00 in, R$0.00 out`,
    )
    t.match(plain({ text: drawn }), /so far R\$10,000\.00 R\$2,500\.00 R\$7,500\.00 R\$9,000\.00 R\$0\.00/)
    t.equal((drawn.match(/<tr/g) ?? []).length, 15, 'its table has a row for each of fourteen days')
    t.match(plain({ text: drawn }), /Counted until \d\d\/\d\d\/\d{4}, \d\d:\d\d GMT/)
    const portuguese = (await alice.get('/production', { 'Accept-Language': 'pt-BR' })).text
    t.match(portuguese, 'Entradas e saídas por dia (BRL)')
  })

  await t.test('how long decisions take is drawn by day', async (t) => {
    t.match(await picture('Time to the decision about withdrawals'), 'Nothing was decided in the last 30 days.')
    await alice.submit(`/production/withdrawals/${old}`, 'approve')
    const drawn = plain({ text: await picture('Time to the decision about withdrawals') })
    t.match(drawn, /half of the decisions took at most 30 hrs?, nine of ten at most 30 hr/)
    t.match(await picture('Time to the decision about identities'), '<polyline', 'those of the players above')
  })

  await t.test('webhooks are drawn by hour, and those to whom most came late named', async (t) => {
    t.match(await picture('Webhooks by hour'), 'No event was sent in 24 hours.')
    await admin.query(
      `insert into webhooks.endpoint (id, operator_id, environment, url, created_at, updated_at)
        select o || '/production', o, 'production', 'https://' || o, now(), now() from unnest(array['op_a', 'op_b']) o;
      insert into webhooks.delivery_hour
        select date_trunc('hour', now(), 'UTC'), id, 2000, case operator_id when 'op_a' then 1999 else 2000 end
        from webhooks.endpoint where url like 'https://op_%'`,
    )
    const hourly = await picture('Webhooks by hour')
    t.match(plain({ text: hourly }), '99.9% of 4,000 events of 24 hours arrived within 2 minutes')
    t.equal((hourly.match(/<tr/g) ?? []).length, 25, 'its table has a row for each hour')
    t.match(plain({ text: await picture('Webhooks by operator') }), /op_a 99\.9% .* 2,000 1 .*op_b 100% .* 2,000 0/)
    t.match(plain(await alice.get('/production/endpoints')), /op_a https:\/\/op_a working 99\.9%/)
  })

  await t.test('what is large and odd leads to its case', async (t) => {
    const largest = await picture('The largest withdrawals that wait')
    t.match(largest, `href="/production/withdrawals/${young}"`)
    t.match(largest, '<svg')
    t.match(await picture('Paid to by three players or more'), 'No withdrawal that waits goes where')
    for (const name of ['Davi', 'Eva', 'Fabio'])
      await bed.newWithdrawal('production', await bed.newPlayer('production', name), 'same@example.com')
    const shared = await picture('Paid to by three players or more')
    t.match(plain({ text: shared }), /3 players 3 R\$120\.00/)
    t.notMatch(shared, 'same@example.com', 'support reads it masked on its page')
    t.match(await picture('Limits raised today'), 'Nobody raised a deposit limit today.')
    const limit = async (dailyDepositLimit: string) =>
      bed.bed.team('bob').call(operations.players.setDailyLimit, { input: { playerId: applicant, dailyDepositLimit } })
    for (const amount of ['10.00', '20.00']) await limit(amount)
    t.match(plain({ text: await picture('Limits raised today') }), /Caio Melo R\$20\.00 R\$10\.00/)
  })

  await t.test('whoever may not read what a picture is made of does not see it', async (t) => {
    const names = async (role: 'finance' | 'compliance' | 'integration') => {
      const { text } = await (await bed.visitor(role)).get('/production')
      return [...text.matchAll(/class="card list picture[^"]*" aria-label="([^"]*)"/g)].map(([, name]) => name)
    }
    const ofWithdrawals = ['Withdrawals: to review', 'Withdrawals: to pay']
    const times = ['Time to the decision about withdrawals', 'Time to the decision about identities']
    const odd = ['The largest withdrawals that wait', 'Paid to by three players or more']
    const [byMoney, raised] = ['Money in and out by day (BRL)', 'Win limits raised in seven days']
    const [refusals, webhooks] = ['Refusals of seven days', ['Webhooks by hour', 'Webhooks by operator']]
    t.strictSame(await names('integration'), [raised, ...webhooks, refusals])
    t.strictSame(await names('finance'), [...ofWithdrawals, byMoney, times[0], ...odd, raised, refusals])
    const { text: ofIntegration } = await (await bed.visitor('integration')).get('/production')
    t.match(ofIntegration, 'data-count="proposals"')
    t.notMatch(ofIntegration, /data-count="(kyc|toReview|toPay)"/, 'no number leads to a list of others')
    t.strictSame(await names('compliance'), [
      ...[...ofWithdrawals, 'Identity checks', byMoney, ...times],
      ...[...odd, 'Limits raised today', raised, refusals],
    ])
  })

  await t.test('a service that does not answer leaves its picture out, and says so', async (t) => {
    await bed.bed.services.wallet.drain()
    t.match(await picture('Money in and out by day'), 'No answer: balances and play')
    t.match(await picture('Withdrawals: to review'), '<svg')
  })
})

t.test('a line has a gap where nothing is known, and one day alone is seen', async (t) => {
  const point = (amount: bigint | null): Point => ({ amount, label: '' })
  const points = [point(10n), point(0n), point(null), point(5n)]
  const { lines, zero } = chartOf({ title: () => '', ends: [], series: [{ kind: 'line', points }] })
  t.equal(zero, 100)
  t.strictSame(
    lines.map((line) => line.points),
    ['5,0 15,100', '30,50 40,50'],
  )
})
