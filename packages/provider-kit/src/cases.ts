import { fromMinorUnits, toMinorUnits } from '@backoffice/contracts/formats'
import { bookOf, compareBook } from './book.ts'
import { codeOf, meaningOf, type ProviderClient } from './client.ts'
import { type Seat, Simulator } from './simulator.ts'
import { pathOf } from './store.ts'
import { answered, done, expect, refused, type TeamSide, Trial } from './trial.ts'

export interface Case {
  readonly number: number
  readonly name: string
  /** @returns what was seen. @throws what was not as it must be */
  readonly prove?: (trial: Trial) => Promise<string>
  /** The same with what only the operator's side can do, and what to ask its team for. */
  readonly withTeam?: { readonly ask: string; readonly prove: (trial: Trial, team: TeamSide) => Promise<string> }
}

const ofTrial = (number: number, name: string, prove: NonNullable<Case['prove']>): Case => ({ number, name, prove })
const ofTeam = (number: number, name: string, ask: string, prove: NonNullable<Case['withTeam']>['prove']): Case => ({
  number,
  name,
  withTeam: { ask, prove },
})

const plus = (one: string, other: string) => fromMinorUnits(toMinorUnits(one) + toMinorUnits(other))
const minus = (one: string, other: string) => fromMinorUnits(toMinorUnits(one) - toMinorUnits(other))
const minutes = (count: number) => ({ now: () => Date.now() + count * 60_000 })
const isOwedNothing = (trial: Trial) =>
  expect(
    trial.entries.every(({ message: { kind } }) => kind !== 'rollback'),
    'a rollback was sent for what was refused',
  )
/** @throws unless its book is what they hold */
async function isEqual(trial: Trial, isOurs: (roundId: string) => boolean): Promise<void> {
  const problems = await compareBook(trial.client, trial.entries, { isOurs })
  expect(problems.length === 0, problems.slice(0, 3).join('; '))
}
/** A bet that is taken. */
async function begin(trial: Trial, amount = '1.00') {
  const bet = trial.bet(amount)
  done(await trial.provider().send(bet))
  return bet
}

const requests: readonly Case[] = [
  ofTrial(1, 'signature', async ({ client, seat }) => {
    const path = `/sessions/${seat.sessionId}`
    answered(await client.get(path), 200)
    const wrong = await client.with({ secret: `${client.options.secret}x` }).get(path)
    answered(wrong, 401, 'INVALID_SIGNATURE')
    return 'what we sign is taken; signed with another secret it is 401'
  }),
  ofTrial(2, 'clock 4 minutes off', async ({ client, seat }) => {
    for (const off of [-4, 4]) answered(await client.with(minutes(off)).get(`/sessions/${seat.sessionId}`), 200)
    return 'taken, both ways'
  }),
  ofTrial(3, 'clock 6 minutes off: stop', async (trial) => {
    const bet = trial.bet('1.00')
    const answer = await trial.client.with(minutes(-6)).post(pathOf.bet, bet.body)
    answered(answer, 401, 'TIMESTAMP_OUT_OF_RANGE')
    expect(meaningOf(answer) === 'later', 'the client takes it for an end')
    expect((await trial.client.transaction('bet', bet.id)) === undefined, 'the bet was booked')
    return 'refused, nothing stored, and the client knows that it may ask again'
  }),
  ofTeam(4, 'a new key, without a gap', 'a second key, and the end of the first', async ({ client, seat }, team) => {
    const second = await team.issueKey()
    const path = `/sessions/${seat.sessionId}`
    for (const each of [client, client.with(second)]) answered(await each.get(path), 200)
    const third = await team.issueKey()
    await team.revokeKey(second.key)
    answered(await client.with(third).get(path), 200)
    return 'two keys work beside each other, and the rest go on when one ends'
  }),
  ofTrial(5, 'unknown fields are ignored', async (trial) => {
    const { transport } = trial.client.options
    const more = trial.client.with({
      transport: async (call) => {
        const answer = await transport(call)
        return { ...answer, body: { ...answer.body, fieldOfTheFuture: { a: 1 } } }
      },
    })
    done(await trial.provider([], { client: more }).send(trial.bet('1.00', { roundEnds: true })))
    return 'a reply with a field more was read'
  }),
  ofTrial(6, 'read the session', async ({ client, seat }) => {
    const { status, body } = await client.get(`/sessions/${seat.sessionId}`)
    expect(status === 200 && body.playerId === seat.playerId && body.gameId === seat.gameId, 'it is another')
    return `${body.state}, balance ${body.balance} ${body.currency}`
  }),
  ofTrial(7, 'session of another game', async (trial) => {
    refused(await trial.provider().send(trial.bet('1.00', { gameId: 'another-game' })), 'GAME_NOT_FOUND')
    isOwedNothing(trial)
    return 'GAME_NOT_FOUND; no rollback'
  }),
]

const bets: readonly Case[] = [
  ofTrial(8, 'bet', async (trial) => {
    const before = await trial.balance()
    const { balance } = done(await trial.provider().send(trial.bet('2.00', { roundEnds: true })))
    expect(balance === minus(before, '2.00'), `the balance is ${balance} after ${before}`)
    return `${before} became ${balance}`
  }),
  ofTrial(9, 'bet of 0.01', async (trial) => {
    expect(
      done(await trial.provider().send(trial.bet('0.01', { roundEnds: true }))).amount === '0.01',
      'another amount',
    )
    return 'taken'
  }),
  ofTrial(10, 'bet of all the balance', async (trial) => {
    const all = await trial.balance()
    const bet = trial.bet(all)
    const { balance } = done(await trial.provider().send(bet))
    expect(balance === '0.00', `${balance} is left`)
    done(await trial.provider().send(trial.win(bet, all, { roundEnds: true })))
    return `${all} staked, 0.00 left`
  }),
  ofTrial(11, 'too much: stop, no rollback', async (trial) => {
    const bet = trial.bet(plus(await trial.balance(), '0.01'))
    refused(await trial.provider().send(bet), 'INSUFFICIENT_FUNDS')
    isOwedNothing(trial)
    return 'INSUFFICIENT_FUNDS; no rollback'
  }),
  ofTrial(12, 'repeated bet: the same round', async (trial) => {
    const bet = trial.bet('1.00', { roundEnds: true })
    const [first, second] = [await trial.once(bet), await trial.once(bet)]
    expect(second.status === 200 && second.body.replayed && second.body.id === first.body.id, 'it was booked twice')
    return 'replayed, under one id'
  }),
  ofTrial(13, '503 after booking: repeat', async (trial) => {
    const outcome = await trial.provider(['503 after']).send(trial.bet('16.16', { roundEnds: true }))
    expect(done(outcome).replayed, 'it was booked by the repetition')
    return 'repeated with the same bytes, and replayed'
  }),
  ofTrial(14, '503 before booking: repeat', async (trial) => {
    done(await trial.provider(['503 before']).send(trial.bet('17.17', { roundEnds: true })))
    return 'repeated, and booked once'
  }),
  ofTrial(15, 'time-out: rollback until 200', async (trial) => {
    const before = await trial.balance()
    const provider = trial.provider(['unanswered', 'unanswered', 'unanswered', 'unanswered', '503 before'])
    const bet = trial.bet('3.00')
    expect((await provider.send(bet)).meaning === 'given up', 'the bet was not given up')
    const back = provider.store.outcomeOf({ kind: 'rollback', id: bet.id, body: '' })
    expect(back !== undefined && done(back).applied, 'the stake was not given back')
    expect((await trial.balance()) === before, 'the balance is another')
    return 'three silences, then a rollback, sent until 200: applied'
  }),
  ofTrial(16, 'rollback with applied: false: no refund is shown', async (trial) => {
    const provider = trial.provider(['lost', 'lost', 'lost'])
    const bet = trial.bet('3.00')
    await provider.send(bet)
    const back = provider.store.outcomeOf({ kind: 'rollback', id: bet.id, body: '' })
    expect(back !== undefined && done(back).applied === false && back.result.amount === '0.00', 'it moved money')
    return 'the bet never arrived: 200, applied: false, 0.00'
  }),
  ofTrial(17, 'late bet after its rollback: no game', async (trial) => {
    const provider = trial.provider(['lost', 'lost', 'lost'])
    const bet = trial.bet('3.00')
    await provider.send(bet)
    answered(await trial.once(bet), 409, 'TRANSACTION_ROLLED_BACK')
    return 'TRANSACTION_ROLLED_BACK'
  }),
  ofTrial(18, 'reset in the middle of the body', async (trial) => {
    const before = await trial.balance()
    done(await trial.provider(['torn']).send(trial.bet('2.00', { roundEnds: true })))
    expect((await trial.balance()) === minus(before, '2.00'), 'it was booked more than once')
    return 'repeated, and booked once'
  }),
  ofTrial(19, '429 is obeyed', async (trial) => {
    done(await trial.provider(['429']).send(trial.bet('1.00', { roundEnds: true })))
    expect((trial.waits[0] ?? 0) >= 2_000, `it waited ${trial.waits[0]} ms of 2 s`)
    return 'it waited for Retry-After, then sent the same bytes'
  }),
]

const wins: readonly Case[] = [
  ofTrial(20, 'win', async (trial) => {
    const bet = await begin(trial)
    const before = await trial.balance()
    const { balance } = done(await trial.provider().send(trial.win(bet, '5.00', { roundEnds: true })))
    expect(balance === plus(before, '5.00'), `the balance is ${balance} after ${before}`)
    return `${before} became ${balance}`
  }),
  ofTrial(21, 'win of 0.00', async (trial) => {
    const bet = await begin(trial)
    const { roundState } = done(await trial.provider().send(trial.win(bet, '0.00', { roundEnds: true })))
    expect(roundState === 'closed', `the round is ${roundState}`)
    return 'the round is closed, nothing moved'
  }),
  ofTrial(22, 'win repeated after a time-out', async (trial) => {
    const bet = await begin(trial)
    const before = await trial.balance()
    const outcome = await trial.provider(['unanswered', 'unanswered']).send(trial.win(bet, '5.00', { roundEnds: true }))
    expect(done(outcome).replayed && outcome.result.balance === plus(before, '5.00'), 'it was credited again')
    return 'sent until 200, credited once'
  }),
  ofTrial(23, 'win through an hour of 503', async (trial) => {
    const bet = await begin(trial)
    let now = 0
    const away = Array.from({ length: 20 }, () => '503 before' as const)
    const wait = async (ms: number) => {
      now += ms
    }
    const waiting = { wait, now: () => now }
    done(await trial.provider(away, waiting).send(trial.win(bet, '5.00', { roundEnds: true })))
    expect(now >= 3_600_000 && trial.answers.length <= 25, `${trial.answers.length} attempts in ${now} ms`)
    return `${trial.answers.length} attempts in ${Math.round(now / 60_000)} minutes, the last one with 200`
  }),
  ofTeam(24, 'win after the session has ended', 'the end of a session that has a bet', async (trial, team) => {
    const bet = await begin(trial)
    await team.endSession(trial.seat.sessionId)
    refused(await trial.provider().send(trial.bet('1.00')), 'SESSION_EXPIRED')
    done(await trial.provider().send(trial.win(bet, '2.00', { roundEnds: true })))
    return 'bets are refused, the win was credited'
  }),
  ofTeam(25, 'win after a self-exclusion', 'the self-exclusion of a player with a bet', async (trial, team) => {
    const bet = await begin(trial)
    await team.excludePlayer(trial.seat.playerId)
    done(await trial.provider().send(trial.win(bet, '2.00', { roundEnds: true })))
    return 'credited'
  }),
  ofTeam(26, 'win after the player was closed', 'the closing of a player with a bet', async (trial, team) => {
    const bet = await begin(trial)
    await team.closePlayer(trial.seat.playerId)
    done(await trial.provider().send(trial.win(bet, '2.00', { roundEnds: true })))
    return 'credited'
  }),
  ofTeam(27, 'win while the operator is suspended', 'the suspension of the operator', async (trial, team) => {
    const bet = await begin(trial)
    await team.whileSuspended(async () => {
      refused(await trial.provider().send(trial.bet('1.00')), 'OPERATOR_SUSPENDED')
      done(await trial.provider().send(trial.win(bet, '2.00', { roundEnds: true })))
    })
    return 'bets are refused, the win was credited'
  }),
  ofTrial(28, 'win with BET_NOT_FOUND: later', async (trial) => {
    const bet = trial.bet('1.00')
    const win = trial.win(bet, '2.00', { roundEnds: true })
    const early = await trial.once(win)
    answered(early, 409, 'BET_NOT_FOUND')
    expect(meaningOf(early) === 'later', 'the client takes it for an end')
    done(await trial.provider().send(bet))
    done(await trial.provider([], {}, 'win').send(win))
    return 'kept, and credited after its bet'
  }),
  ofTrial(29, 'two wins in one round', async (trial) => {
    const bet = await begin(trial)
    for (const amount of ['2.00', '3.00']) done(await trial.provider().send(trial.win(bet, amount)))
    done(await trial.provider().send(trial.close(bet)))
    return 'both credited'
  }),
  ofTrial(30, 'two bets and two wins, each named', async (trial) => {
    const first = await begin(trial)
    const second = trial.bet('1.00', { roundId: JSON.parse(first.body).roundId })
    done(await trial.provider().send(second))
    for (const bet of [second, first])
      done(await trial.provider().send(trial.win(bet, '2.00', { betTransactionId: bet.id })))
    done(await trial.provider().send(trial.close(first)))
    return 'each win belongs to its bet'
  }),
  ofTeam(31, 'WIN_HELD: keep trying', 'a win limit of 50.00, and two people who release a win', async (trial, team) => {
    const bet = await begin(trial)
    await team.limitWins('50.00')
    const win = trial.win(bet, '60.00', { roundEnds: true })
    const { playerId } = trial.seat
    const wait = async () => {
      if (trial.answers.length === 3) await team.releaseWin(win.id, { playerId, amount: '60.00' })
    }
    done(await trial.provider([], { wait }).send(win))
    // What comes later wins more than that.
    await team.limitWins('100000.00')
    expect(codeOf(trial.answers[1]) === 'WIN_HELD', 'it was not held')
    return `sent ${trial.answers.length - 1} times, paid once it was released`
  }),
]

const ends: readonly Case[] = [
  ofTrial(32, 'close', async (trial) => {
    const bet = await begin(trial)
    expect(done(await trial.provider().send(trial.close(bet))).roundState === 'closed', 'the round is not closed')
    refused(await trial.provider().send(trial.bet('1.00', { roundId: JSON.parse(bet.body).roundId })), 'ROUND_CLOSED')
    return 'closed: no bet comes any more'
  }),
  ofTrial(33, 'close, repeated', async (trial) => {
    const bet = await begin(trial)
    done(await trial.provider(['unanswered']).send(trial.close(bet)))
    const again = await trial.once(trial.close(bet))
    expect(again.status === 200 && again.body.replayed, 'it was not replayed')
    return 'replayed'
  }),
  ofTrial(34, 'close overtakes the win', async (trial) => {
    const bet = await begin(trial)
    done(await trial.provider().send(trial.close(bet)))
    done(await trial.provider().send(trial.win(bet, '2.00')))
    return 'the win was credited'
  }),
  ofTrial(35, 'spin that wins', async (trial) => {
    const before = await trial.balance()
    const { balance, win } = done(await trial.provider().send(trial.spin('1.00', '4.00')))
    expect(balance === plus(before, '3.00') && win === '4.00', `the balance is ${balance} after ${before}`)
    return `${before} became ${balance}`
  }),
  ofTrial(36, 'spin that loses', async (trial) => {
    const before = await trial.balance()
    const { balance } = done(await trial.provider().send(trial.spin('1.00', '0.00')))
    expect(balance === minus(before, '1.00'), `the balance is ${balance} after ${before}`)
    return `${before} became ${balance}`
  }),
  ofTrial(37, 'spin without an answer: the same spin, the same result', async (trial) => {
    const before = await trial.balance()
    const outcome = await trial.provider(['unanswered', '503 before']).send(trial.spin('1.00', '4.00'))
    const { replayed, win, balance } = done(outcome)
    expect(replayed && win === '4.00' && balance === plus(before, '3.00'), 'it was spun again')
    return 'replayed with the result of the first'
  }),
  ofTrial(38, 'free round', async (trial) => {
    const before = await trial.balance()
    const bet = trial.bet('0.00', { freeRound: true })
    done(await trial.provider().send(bet))
    const win = trial.win(bet, '1.50', { kind: 'free_round', campaignId: 'welcome', roundEnds: true })
    expect(done(await trial.provider().send(win)).balance === plus(before, '1.50'), 'another balance')
    return 'nothing staked, 1.50 won'
  }),
  ofTrial(39, 'jackpot', async (trial) => {
    const bet = await begin(trial)
    done(await trial.provider().send(trial.win(bet, '40.00', { kind: 'jackpot', roundEnds: true })))
    return 'credited'
  }),
  ofTrial(40, 'tournament', async (trial) => {
    const prize = { kind: 'promotion', campaignId: 'cup', roundId: undefined }
    const { roundId } = done(await trial.provider().send(trial.win(trial.bet('0.00'), '10.00', prize)))
    expect(roundId === null, 'it has a round')
    return 'credited without a round'
  }),
]

const players: readonly Case[] = [
  ofTeam(41, 'bet refused by responsible gaming', 'the self-exclusion of a player', async (trial, team) => {
    await team.excludePlayer(trial.seat.playerId)
    const outcome = await trial.provider().send(trial.bet('1.00'))
    refused(outcome, 'RG_BLOCKED')
    isOwedNothing(trial)
    return `RG_BLOCKED, ${outcome.result?.reason ?? 'with its reason'}; no rollback`
  }),
  ofTeam(42, 'double-down refused: the hand is settled', 'a self-exclusion within a hand', async (trial, team) => {
    const bet = await begin(trial)
    await team.excludePlayer(trial.seat.playerId)
    const double = trial.bet('1.00', { roundId: JSON.parse(bet.body).roundId })
    refused(await trial.provider().send(double), 'RG_BLOCKED')
    done(await trial.provider().send(trial.win(bet, '2.00', { roundEnds: true })))
    return 'the double is refused, the hand is paid'
  }),
  ofTeam(43, 'the identity check ends in the session', 'a player whose KYC is taken back', async (trial, team) => {
    const bet = await begin(trial)
    await team.rejectKyc(trial.seat.playerId)
    const outcome = await trial.provider().send(trial.bet('1.00'))
    expect(['KYC_NOT_APPROVED', 'PLAYER_NOT_ACTIVE'].includes(outcome.code ?? ''), `it was ${outcome.code}`)
    done(await trial.provider().send(trial.win(bet, '2.00', { roundEnds: true })))
    return `${outcome.code}; the win was credited`
  }),
  ofTrial(44, 'wrong currency', async (trial) => {
    refused(await trial.provider().send(trial.bet('1.00', { currency: 'XXX' })), 'CURRENCY_MISMATCH')
    return 'CURRENCY_MISMATCH'
  }),
  ofTrial(45, 'the balance that is shown is `balance`', async (trial) => {
    const first = trial.bet('1.00', { roundEnds: true })
    await trial.once(first)
    done(await trial.provider().send(trial.bet('1.00', { roundEnds: true })))
    const { balance, balanceAfter } = (await trial.once(first)).body
    expect(balance === (await trial.balance()) && balance !== balanceAfter, `${balance} is shown`)
    return `replayed: ${balanceAfter} then, ${balance} now`
  }),
]

const whole: readonly Case[] = [
  ofTrial(46, 'killed between bet and win', async (trial) => {
    const bet = trial.bet('1.00')
    const win = trial.win(bet, '2.00', { roundEnds: true })
    const killed = trial.provider([], {
      next: () => {
        throw new Error('killed')
      },
    })
    await killed.send(bet).catch(() => {})
    const before = await trial.balance()
    // The bet's outcome was not kept yet: the next process asks again, is told, and goes on with the game.
    const next = trial.provider([], { next: (ended) => (ended.kind === 'bet' ? [win] : []) })
    expect((await next.resume()) === 1, 'nothing was owed')
    expect((await trial.balance()) === plus(before, '2.00'), 'the win was not credited once')
    return 'resumed from its store: the bet replayed, the win sent'
  }),
  ofTrial(47, 'the day equals our book', async (trial) => {
    const provider = trial.provider()
    for (const amount of ['1.00', '2.00']) {
      const bet = trial.bet(amount)
      done(await provider.send(bet))
      done(await provider.send(trial.win(bet, '1.50', { roundEnds: true })))
    }
    const book = bookOf(trial.entries)
    await isEqual(trial, (roundId) => book.rounds.has(`${trial.seat.playerId} ${roundId}`))
    return `${book.rounds.size} rounds, ${trial.entries.length} transactions, to the cent`
  }),
  ofTrial(48, '100 rounds at once, nothing stuck', async (trial) => {
    const provider = trial.provider()
    const names = { seed: '48', name: trial.id('many'), seats: [trial.seat], rounds: 100, roundsAtOnce: 100 }
    await new Simulator({ ...names, client: trial.client, store: provider.store, firstPauseMs: 50 }).run()
    await isEqual(trial, (id) => id.startsWith(names.name))
    return `${trial.entries.length} messages, none owed, no round open`
  }),
]

/** What a provider's client must pass, in order. */
export const cases: readonly Case[] = [...requests, ...bets, ...wins, ...ends, ...players, ...whole]

export interface Finding {
  readonly number: number
  readonly name: string
  readonly result: 'proved' | 'failed' | 'needs the team' | 'not seen'
  /** What was seen, what was not as it must be, or what to ask the operator's team for. */
  readonly why: string
}

interface RunOptions {
  readonly client: ProviderClient
  /** Whose money is staked in the cases that leave the player as it was. */
  readonly seat: Seat
  readonly team?: TeamSide
  /** In the ids of this run. */
  readonly name: string
  readonly only?: readonly number[]
  readonly say?: (finding: Finding) => unknown
}

/** Takes one case after the other, since they look at one balance. */
export async function runCases({ only, say, ...options }: RunOptions): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const one of cases) {
    if (only !== undefined && !only.includes(one.number)) continue
    const finding = { number: one.number, name: one.name, ...(await judge(one, options)) }
    findings.push(finding)
    say?.(finding)
  }
  return findings
}

async function judge(
  { number, prove, withTeam }: Case,
  { client, seat, team, name }: Omit<RunOptions, 'only' | 'say'>,
): Promise<Pick<Finding, 'result' | 'why'>> {
  if (prove === undefined && team === undefined) return { result: 'needs the team', why: `ask for ${withTeam?.ask}` }
  let trial: Trial | undefined
  try {
    trial = new Trial(client, prove === undefined && team !== undefined ? await team.seat() : seat, `${name}-${number}`)
    const why = await (prove?.(trial) ?? withTeam?.prove(trial, team as TeamSide))
    return { result: 'proved', why: why ?? '' }
  } catch (error) {
    return { result: 'failed', why: (error as Error).message }
  } finally {
    trial?.end()
  }
}
