import { operations } from '@backoffice/contracts'
import { gateway } from '@backoffice/gateway'
import { refusal, timeZoneAtNoon } from '@backoffice/test-kit'
import { webhooks } from '@backoffice/webhooks'
import t from 'tap'
import { chartOf } from '../src/pieces/chart.ts'
import { consoleBed, formOf, type Shown, type Visitor } from './console-bed.ts'
import { playBed } from './play-bed.ts'

const reason = 'as the contract says'
const plain = ({ text }: Shown) => text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
const copied = ({ text }: Shown) => [...text.matchAll(/data-copy="([^"]+)"/g)].map(([, value = '']) => value)

t.test('the pages about play', async (t) => {
  const bed = await consoleBed(t, { CONSOLE_TIME_ZONE: timeZoneAtNoon() }, {}, { gateway, webhooks })
  const play = await playBed(bed)
  const other = await playBed(bed, { operator: 'Boreal', provider: 'Pragmatic Studio' })
  const inSandbox = await playBed(bed, { operator: 'Cometa', provider: 'Sandbox Studio', environment: 'sandbox' })
  const [alice, bob, support] = [await bed.visitor('alice'), await bed.visitor('bob'), await bed.visitor('support')]
  const inPortuguese = alice.as({ cookies: { language: 'pt-BR' } })
  const admin = bed.bed.sql('admin')
  /** Behind the wallet's back: it keeps what was when. */
  const earlier = (table: 'round' | 'play', column: string, roundId: string, hours: number) =>
    admin.query(
      `begin; set local session_replication_role = replica;
       update wallet.${table} set ${column} = ${column} - interval '${hours} hours' where provider_round_id = '${roundId}'; commit`,
    )
  /** Somebody proposes it, and somebody else agrees. */
  async function byTwo(page: string, form: string, fields: Readonly<Record<string, string>> = {}) {
    const sent = await alice.submit(page, form, { reason, ...fields })
    t.equal(sent.status, 303, `${page} ${form}`)
    const [proposal = ''] = /\/production\/proposals\/prp_\w+/.exec((await alice.get(page)).text) ?? []
    const shown = await bob.get(proposal)
    return {
      shown,
      approved: await bob.post(`${proposal}/approve`, { ...formOf(shown, `${proposal}/approve`), reason }),
    }
  }

  const ana = await play.newGambler()
  const bia = await other.newGambler('Bia Lima')
  await play.bet(ana, 'won')
  await play.win(ana, 'won', '25.00', { betTransactionId: 'bet-won', detailsUrl: 'https://games.example/rounds/won' })
  await play.bet(ana, 'won', { transactionId: 'bet-second', amount: '20.00' })
  await refusal(play.bet(ana, 'won', { transactionId: 'bet-late', refusedWith: { code: 'RG_BLOCKED' } }))
  const excluded = { code: 'RG_BLOCKED', details: '{"reason":"self_exclusion"}' } as const
  await refusal(play.bet(ana, 'never', { refusedWith: excluded }))
  await refusal(play.rollback(ana, 'won', 'bet-won'))
  await play.bet(ana, 'spun', { transactionId: 'spin-1', win: '1500.00' })
  await play.bet(ana, 'shared')
  await other.bet(bia, 'shared')
  const sandboxed = await inSandbox.newGambler()
  await inSandbox.bet(sandboxed, 'practice')
  const [won, spun] = [await play.roundOf('won'), await play.roundOf('spun')]
  const roundPath = `/production/rounds/${won}`

  await t.test('a round is found by whatever id somebody has, and only in its environment', async (t) => {
    const { data } = await bed.bed
      .team('alice')
      .call(operations.wallet.recallRound, { input: { roundId: won, limit: 9 } })
    const ids = [won, 'won', 'bet-second', data[0]?.id ?? '', data[0]?.entryId ?? '']
    for (const find of ids) {
      const { text } = await alice.get(`/production/rounds?find=${encodeURIComponent(find)}`)
      t.match(text, `href="${roundPath}"`, find)
      t.notMatch(text, spun, find)
    }
    const foundBy = async (query: string) =>
      [...(await alice.get(`/production/rounds?${query}`)).text.matchAll(/"\/production\/rounds\/(rnd_\w+)"/g)].length
    t.equal(await foundBy('find=shared'), 2, 'of two providers')
    t.equal(await foundBy('find=shared&operator=Aurora'), 1)
    t.equal(await foundBy('find=shared&provider=Pragmatic+Studio'), 1)
    t.equal(await foundBy(`player=${ana}`), 3)
    t.equal(await foundBy('state=closed'), 1)
    for (const nothing of ['find=nothing', 'find=two%20words', 'operator=nobody', 'provider=nobody'])
      t.equal(await foundBy(nothing), 0, nothing)
    t.notMatch((await alice.get('/production/rounds')).text, 'practice')
    t.match((await alice.get('/sandbox/rounds')).text, 'practice')
    t.match((await alice.get(`/production/players/${ana}`)).text, `href="/production/rounds?player=${ana}"`)
    t.equal((await alice.search('production', won)).location, roundPath)
    t.equal((await alice.search('production', 'bet-second')).location, roundPath)
    t.equal((await alice.search('production', play.providerId)).location, `/production/providers/${play.providerId}`)
    const practice = await inSandbox.roundOf('practice')
    t.equal((await alice.get(`/production/rounds/${practice}`)).location, `/sandbox/rounds/${practice}`)
    t.equal((await alice.get('/production/rounds/rnd_nothing')).status, 404)
  })

  await t.test('its page recalls each play, the last one first, refusals too', async (t) => {
    const page = await support.get(roundPath)
    const text = plain(page)
    t.match(text, /Round of Wallet Reels.*Ana Souza.*RTP 95 % at the bet.*Evolution Games.*Aurora/)
    t.match(
      text,
      /bet refused Self-exclusion or daily limit\. RG_BLOCKED .*bet-late.*bet-second.*win .*R\$25\.00.*win-won of the bet bet-won.*bet-won/,
    )
    t.match(text, 'R$4,990.00 → R$5,015.00')
    t.match(text, 'player active, identity approved deposits of the day R$100.00 of R$500.00')
    t.match(text, /provider: \d\d\/\d\d\/\d{4}, \d\d:\d\d:\d\d GMT/)
    t.match(text, 'ab'.repeat(32))
    t.match(page.text, /href="https:\/\/games\.example\/rounds\/won" target="_blank" rel="noopener noreferrer"/)
    t.match(page.text, `href="/production/players/${ana}/entries/led_`)
    t.match(text, /With other roles: Void: give the bets back, Close as it is \(finance\)/)
    t.match(plain(await inPortuguese.get(roundPath)), 'Autoexclusão ou limite diário. RG_BLOCKED')
    const entries = await alice.get(`/production/players/${ana}/entries?type=WIN`)
    t.match(entries.text, `href="/production/rounds/${spun}"`)
    const [, entry = ''] = /href="(\/production\/players\/\w+\/entries\/trf_\w+)"/.exec(entries.text) ?? []
    t.match((await alice.get(entry)).text, /href="\/production\/rounds\/rnd_/)
    const timeline = plain(await alice.get(`/production/players/${ana}`))
    t.match(timeline, /Balance by day At the end of each day: from R\$\d.* Day Balance \S+ \S+ \S+ R\$\d/)
    t.match(timeline, 'R$5,000.00 deposit')
    t.notMatch(timeline, 'R$1,500.00', 'plays have a list of their own')
  })

  await t.test('what was refused is listed with why, also where no round was opened', async (t) => {
    const list = await support.get('/production/plays')
    const why = 'bet refused Self-exclusion or daily limit. Reason: self-exclusion RG_BLOCKED'
    t.match(plain(list), why)
    t.match(list.text, `href="/production/players/${ana}"`, 'it has no round that could be opened')
    t.notMatch(list.text, 'bet-second')
    const [, requestId = ''] = /bet-never[\s\S]*?(req_\w+)/.exec(list.text) ?? []
    t.match(plain(await inPortuguese.get('/production/plays')), 'Motivo: autoexclusão RG_BLOCKED')
    t.notMatch((await alice.get('/sandbox/plays')).text, 'bet-never')
    const ofAna = (query = '') => alice.get(`/production/plays?player=${ana}${query}`)
    t.match(plain(await ofAna()), /State of the round: open Won: R\$25\.00.*bet-never.*bet-second/)
    t.match((await ofAna()).text, `href="${roundPath}"`)
    t.notMatch((await ofAna('&outcome=refused')).text, 'bet-second')
    for (const found of ['find=bet-never', 'provider=Evolution+Games', 'operator=Aurora'])
      t.match((await alice.get(`/production/plays?${found}`)).text, 'bet-never', found)
    for (const nothing of ['provider=Pragmatic+Studio', 'find=bet-never&operator=Boreal', 'find=two%20words'])
      t.notMatch((await alice.get(`/production/plays?${nothing}`)).text, requestId, nothing)
    t.match((await alice.get(`/production/players/${ana}`)).text, `href="/production/plays?player=${ana}"`)
    t.match((await alice.get('/production/rounds')).text, 'href="/production/plays"')
    t.equal((await alice.search('production', 'bet-never')).location, '/production/plays?find=bet-never')
    const asked = `/plays?find=${requestId}`
    t.equal((await alice.get(`/production/requests/${requestId}`)).location, `/production${asked}`)
    t.match((await alice.get(`/production${asked}`)).text, 'bet-never')
    t.equal((await alice.get(`/sandbox/requests/${requestId}`)).status, 404)
  })

  await t.test('what stays open for a day is counted, and is red after three', async (t) => {
    t.match((await alice.get('/production')).text, /data-count="openRounds">0</)
    await earlier('round', 'opened_at', 'won', 30)
    await earlier('round', 'opened_at', 'shared', 80)
    t.match((await alice.get('/production')).text, /data-count="openRounds">3<\/span>\s*<span class="age late"/)
    t.match((await alice.get('/sandbox')).text, /data-count="openRounds">0</)
    const { text } = await alice.get('/production/rounds?view=open')
    t.match(text, /By provider and brand[\s\S]*Pragmatic Studio[\s\S]*class="late"[\s\S]*class="ageing">1 day ago/)
    const older = await alice.get('/production/rounds?view=open&olderThan=72h&operator=Aurora')
    t.notMatch(older.text, roundPath)
    t.match(older.text, await play.roundOf('shared'))
    const counted = async (filter: string) =>
      plain(await alice.get(`/production/rounds?view=open&${filter}`)).split('By provider and brand')[1]
    for (const filter of ['operator=Aurora', 'provider=Evolution+Games'])
      t.match(await counted(filter), /^(?!.*Pragmatic Studio).*Evolution Games/, filter)
    for (const filter of ['find=shared', `player=${ana}`]) t.equal(await counted(filter), undefined, filter)
  })

  await t.test('is voided by two people who saw the same, and closed where it was won', async (t) => {
    const path = `/production/rounds/${await play.roundOf('shared')}`
    const stale = formOf(await alice.get(path), `${path}/void`)
    t.equal((await alice.submit(path, 'void')).status, 422, 'without a reason')
    await play.bet(ana, 'shared', { transactionId: 'bet-meanwhile', amount: '5.00' })
    const late = await alice.post(`${path}/void`, { ...stale, reason })
    t.match(plain(late), /It is not what this page showed\..*Staked: 10\.00 → 15\.00/)
    const { shown, approved } = await byTwo(path, 'void')
    t.match(
      plain(shown),
      /Void a round of Evolution Games at Aurora \(rnd_\w+\): R\$15\.00 of bets go back to the player/,
    )
    t.equal(approved.status, 303)
    t.match(plain(await alice.get(path)), /State void .*Ended by the team/)

    t.strictSame(formOf(await alice.get(roundPath), `${roundPath}/void`), {})
    t.match(plain(await alice.get(roundPath)), 'The round was won, so its bets are not given back. Close it instead.')
    await byTwo(roundPath, 'close')
    t.match(plain(await alice.get(roundPath)), /State closed/)
    t.equal(await refusal(play.bet(ana, 'won', { transactionId: 'bet-after' })), 'ROUND_CLOSED')
    const { _csrf = '' } = formOf(await alice.get(roundPath), '/sign-out')
    t.equal((await alice.post(`${roundPath}/nothing`, { _csrf })).status, 404)
  })

  await t.test('a win above the limit waits for two people, and is paid when it is sent again', async (t) => {
    const prize = { transactionId: 'cup/2026#1', kind: 'promotion' } as const
    const send = () => play.win(ana, '', '250000.00', prize)
    t.equal(await refusal(send()), 'WIN_HELD')
    t.match((await alice.get('/production')).text, /data-count="heldWins">1</)
    const list = await alice.get('/production/held-wins')
    const [, path = ''] = /href="(\/production\/held-wins\/one[^"]*)"/.exec(list.text) ?? []
    const page = path.replaceAll('&amp;', '&')
    t.match(plain(await alice.get(page)), /R\$250,000\.00.*Win without two people R\$100,000\.00.*Ana Souza/)
    t.notMatch((await alice.get('/sandbox/held-wins')).text, 'cup/2026')
    const action = page.replace('?', '/release?')
    const form = formOf(await alice.get(page), action.replaceAll('&', '&amp;'))
    t.equal((await alice.post(action, { ...form, reason })).status, 303)
    const [proposal = ''] =
      /\/production\/proposals\/prp_\w+/.exec((await alice.get('/production/held-wins')).text) ?? []
    const shown = await bob.get(proposal)
    t.match(plain(shown), 'Release a win of R$250,000.00 of Evolution Games at Aurora (cup/2026#1) for Ana Souza')
    await bob.post(`${proposal}/approve`, { ...formOf(shown, `${proposal}/approve`), reason })
    t.match(await send(), { applied: true, amount: '250000.00' })
    t.match((await alice.get('/production')).text, /data-count="heldWins">0</)
    t.equal((await alice.get(page)).status, 404)
  })

  await t.test('a withdrawal names the large wins behind it', async (t) => {
    await bed.approve(ana)
    const input = { playerId: ana, amount: '400.00', currency: 'BRL', method: 'pix', destination: 'ana@example.com' }
    const { id } = await bed.bed.rpc.call(operations.payments.requestWithdrawal, { scope: play.scope, input })
    const { text } = await alice.get(`/production/withdrawals/${id}`)
    t.match(text, /2 of R\$1,000\.00 or more in 30 days/)
    t.match(text, new RegExp(`href="/production/rounds/${spun}"><bdi>R\\$1,500\\.00, `))
    t.match(text, /R\$250,000\.00, /)
  })

  await t.test('a provider is created, gets a key that is shown once, and brands with a limit', async (t) => {
    const reads = await support.get('/production/providers')
    t.match(reads.text, 'Evolution Games')
    t.notMatch(reads.text, '/providers/new')
    const created = { name: 'Nova Games', allowedAddresses: 'given', allowedAddressesGiven: '203.0.113.7' }
    const made = await alice.submit('/production/providers/new', 'create', { ...created, reason })
    t.equal(made.status, 303)
    const twice = await alice.submit('/production/providers/new', 'create', {
      ...created,
      name: 'Pragmatic Studio',
      reason,
    })
    t.match(twice.text, 'A provider with this name exists.')
    const provider = `/providers/${play.providerId}`
    const [key = '', secret = ''] = copied(await alice.submit(`/sandbox${provider}`, 'issue', { reason }))
    t.match(key, /^gp_test_/)
    const keyPath = `/sandbox${provider}/keys/${key}`
    t.notMatch((await alice.get(keyPath)).text, secret)
    t.equal((await alice.search('sandbox', `${key}:${secret}`)).location, keyPath)
    t.match((await alice.get(keyPath)).text, 'You pasted the secret as well')
    t.equal((await alice.submit(keyPath, 'revoke', { reason })).status, 303)
    t.strictSame(formOf(await alice.get(keyPath), `${keyPath}/revoke`), {})
    t.equal((await alice.get(keyPath.replace('sandbox', 'production'))).location, keyPath)

    const limits = { stakesPerMinute: '500', allowedAddresses: 'given', allowedAddressesGiven: 'anywhere' }
    t.equal((await alice.submit(`/production${provider}`, 'limits', { ...limits, reason })).status, 422)

    const granted = await byTwo(`/production${provider}`, 'grant', { brandId: other.brandId })
    t.match(plain(granted.shown), 'Grant a brand: Evolution Games; Brand: Boreal; Grant: active')
    const brand = `/production${provider}/brands/${play.brandId}`
    t.equal((await alice.submit(brand, 'winLimit', { maxWin: '50,000', reason })).status, 303, 'less takes one')
    const limited = await byTwo(brand, 'winLimit', { maxWin: '75,000.00' })
    t.match(
      plain(limited.shown),
      'Set the limit of a win: Evolution Games; Win without two people: R$50,000.00 → R$75,000.00; Brand: Aurora',
    )
    t.match(plain(await alice.get(`/production${provider}`)), /Aurora active R\$75,000.*Boreal active R\$100,000/)
    t.match(plain(limited.shown), 'As its proposer saw it Win without two people: R$50,000.00')
    const decided = '/production/proposals?state=decided'
    t.match(plain(await alice.get(decided)), /money Set the limit of a win: [^\n]* R\$75,000\.00 as the contract says/)
    t.match(plain(await inPortuguese.get(decided)), /Concessão: ativa .* aprovada/, 'neither is masculine')
    const raised = /Win limits raised .* Evolution Games Aurora R\$75,000\.00 R\$50,000\.00/
    t.match(plain(await alice.get('/production')), raised)
    await bed.bed.sql('admin').query(
      `insert into wallet.team_proposal
        select (json_populate_record(p, json_build_object('id', 'prp_z' || n, 'operation', 'adjustWallet'))).*
        from wallet.team_proposal p, generate_series(1, 200) n where operation = 'setWinLimit'`,
    )
    t.match(plain(await alice.get('/production')), raised, 'however much else was approved')
    t.notMatch(plain(await alice.get('/sandbox')), 'Win limits raised', 'where one person raises them')
    await byTwo(brand, 'suspendGrant')
    t.match(plain(await alice.get(brand)), /Grant suspended/)
    t.equal((await alice.submit(`/production${provider}`, 'suspend', { reason })).status, 303)
    t.match(plain(await alice.get('/production/providers')), 'Evolution Games suspended')
    t.equal((await alice.submit(`/production${provider}`, 'activate', { reason })).status, 303)
  })

  await t.test('a game is served for money by one provider, or by nobody', async (t) => {
    const path = '/production/games/wallet-reels'
    const send = (providerId: string) => alice.submit(path, 'provider', { providerId, reason })
    t.equal((await send(play.providerId)).status, 303)
    t.match(plain(await alice.get('/production/games')), 'Wallet Reels Evolution Games 95 % Sandbox')
    t.equal((await send('none')).status, 303)
    t.match(plain(await alice.get(path)), 'Provider no money')
    t.equal((await alice.get('/production/games/nothing')).status, 404)
  })

  await t.test('play is summed by day, drawn, and a day is a file whose footer is the ledger', async (t) => {
    t.match((await alice.get('/production/play-days')).text, 'Choose an operator.')
    const path = '/production/play-days?operator=Boreal'
    await other.bet(bia, 'daily', { amount: '30.00' })
    await earlier('round', 'opened_at', 'daily', 48)
    await earlier('play', 'created_at', 'daily', 48)
    await admin.query(
      `begin; set local session_replication_role = replica;
       update wallet.transfer t set created_at = p.created_at from wallet.play p where p.id = t.reference; commit`,
    )
    const page = await alice.get(path)
    t.match(plain(page), /Pragmatic Studio rounds: 1 CSV R\$30\.00 R\$0\.00 R\$0\.00 R\$30\.00/)
    t.match(page.text, /<svg [^>]*role="img" aria-label="GGR by day, BRL: from R\$0\.00 to R\$30\.00"/)
    t.equal(page.text.match(/<rect class="up"/g)?.length, 7, 'each day has its place')
    t.match(page.text, '<option value="last7Days" selected>', 'the filter names the days that are shown')
    const files = [...page.text.matchAll(/href="(\/production\/play-days\.csv[^"]*)"/g)]
    const file = files.at(-1)?.[1] ?? ''
    const csv = await alice.get(file.replaceAll('&amp;', '&'))
    t.match(csv.headers.get('content-disposition'), /filename="play-Boreal-production-\d{4}-\d\d-\d\d\.csv"/)
    const lines = csv.text.trimEnd().split('\n')
    t.match(lines[0], 'createdAt,providerTime,playId')
    t.match(lines[1], ',bet-daily,bet,')
    t.match(lines.at(-1), `ledger,${other.providerId},BRL,1,30.00,0.00,0.00,0.00,0.00,30.00`)
    const compliance = await bed.visitor('compliance')
    t.notMatch((await compliance.get(path)).text, 'play-days.csv')
    t.equal((await alice.get('/production/play-days.csv?operator=Boreal&day=soon')).status, 400)
    t.equal((await alice.get('/production/play-days.csv?day=2026-01-01')).location, '/production/play-days')
    t.equal((await alice.get(`${path}&firstDay=2026-01-01&lastDay=2026-03-01`)).status, 422)
  })

  await t.test('are for the roles that may read them', async (t) => {
    const integration = await bed.visitor('integration')
    const menu = async (visitor: Visitor) => (await visitor.get('/production')).text.split('<main')[0] ?? ''
    t.notMatch(await menu(integration), '/production/rounds')
    t.match(await menu(integration), '/production/providers')
    for (const path of ['rounds', 'plays', 'held-wins', 'play-days'])
      t.match((await integration.get(`/production/${path}`)).text, 'This takes the role', path)
  })

  await t.test(
    'without the gateway, which knows whose they are, lists say so and a round is still recalled',
    async (t) => {
      await bed.bed.services.gateway?.drain()
      for (const path of ['rounds', 'rounds?view=open', 'plays', 'held-wins'])
        t.match(
          (await alice.get(`/production/${path}`)).text,
          'what is kept there is missing: operators and keys',
          path,
        )
      t.match(plain(await alice.get(roundPath)), 'State closed')
    },
  )
})

t.test('a chart has its zero where amounts part, and shows what is small', async (t) => {
  const chart = (...amounts: readonly bigint[]) => {
    const points = amounts.map((amount) => ({ amount, label: String(amount) }))
    const series = [{ kind: 'bar', points } as const]
    const { bars: drawn, ...all } = chartOf({ title: (low, high) => `${low} to ${high}`, ends: [], series })
    const { zero, title } = all
    const bars = drawn.map(({ x, width }) => [x, width].map((length) => (length * 100) / all.width))
    return { zero, title, bars, drawn: drawn.map(({ y, height, tone }) => [y, height, tone]) }
  }
  t.match(chart(300n, -100n, 0n), {
    zero: 75,
    title: '-100 to 300',
    drawn: [
      [0, 75, 'up'],
      [75, 25, 'down'],
      [75, 0, 'up'],
    ],
  })
  t.match(chart(1n, 10n ** 30n).drawn[0], [99, 1, 'up'])
  t.same(chart().drawn, [])
  t.match(
    chart(0n, 0n),
    {
      zero: 100,
      drawn: [
        [100, 0, 'up'],
        [100, 0, 'up'],
      ],
    },
    'nothing stands on the foot',
  )
  t.same(chart(5n).bars, [[47.5, 5]], 'a bar alone is as wide as one of fourteen')
  t.same(chart(...Array<bigint>(14).fill(5n)).bars[1]?.[1], 5)
})
