import { headerNames, operations } from '@backoffice/contracts'
import { answeredAsFaults, byTwo, eventually, holdOpen, seenWithdrawal } from '@backoffice/test-kit'
import t from 'tap'
import { consoleBed, formOf, newCookieKey, type Shown, Visitor } from './console-bed.ts'

t.test('the pages', async (t) => {
  const bed = await consoleBed(t, { CONSOLE_REQUESTS_PER_MINUTE: '100000' })
  const alice = await bed.visitor('alice')
  const playerId = await bed.newPlayer('production')
  const newWithdrawal = async () => bed.newWithdrawal('production', await bed.newPlayer('production'))

  await t.test('nobody sees one without signing in', async (t) => {
    const nobody = new Visitor(bed.url, { cookies: {} })
    for (const path of ['/production', `/production/kyc/${playerId}`, '/sandbox/audit', '/production/live']) {
      const { status, location } = await nobody.get(path)
      t.equal(status, 303, path)
      t.equal(location, `/sign-in?returnTo=${encodeURIComponent(path)}`)
    }
    const foreign = await nobody.get(`/sign-in?returnTo=${encodeURIComponent('//evil.test/')}`)
    t.equal(formOf(foreign, '/login').returnTo, '/')
  })

  await t.test('whoever signs in while the provider is away reads what to do', async (t) => {
    const visitor = new Visitor(bed.url, { cookies: {} })
    const shown = formOf(await visitor.get('/sign-in'), '/login')
    const form = { ...shown, thumbprint: 'x'.repeat(43) }
    const { status, text, headers } = await visitor.post('/login', form)
    t.equal(status, 503)
    t.equal(headers.get('retry-after'), '5')
    t.match(text, 'The identity provider cannot be reached.')
    t.equal(
      (await visitor.post('/login', { ...form, _csrf: 'x' })).status,
      403,
      'nobody else begins a login, with a key of theirs',
    )
    t.equal((await visitor.post('/login', { ...form, thumbprint: 'x' })).status, 400)
  })

  await t.test("whatever method, path and form of a body: what is wrong is the client's, and no fault", async (t) => {
    const { cookies } = await bed.sessionOf('alice')
    const cookie = Object.entries(cookies).map(([name, value]) => `${name}=${value}`)
    const nobodys = await answeredAsFaults(bed.url, ['/login', '/%zz'])
    const alices = await answeredAsFaults(bed.url, [`/production/kyc/${playerId}`], [`Cookie: ${cookie.join('; ')}`])
    t.same([...nobodys, ...alices].map((line) => line.replace(/Cookie: \S+/, '')).slice(0, 5), [])
  })

  await t.test('a cookie under another key is nobody; one under a former key is still read', async (t) => {
    const other = new Visitor(bed.url, await bed.sessionOf('alice', {}, { keys: newCookieKey() }))
    t.equal((await other.get('/production')).status, 303)
    const former = newCookieKey()
    const rotated = await bed.urlWithKeys(`${newCookieKey()},${former}`)
    const visitor = new Visitor(rotated, await bed.sessionOf('alice', {}, { keys: former }))
    t.equal((await visitor.get('/production')).status, 200)
  })

  await t.test('a session that is over leads to the sign-in, which says why', async (t) => {
    const visitor = await bed.visitor('alice', { loggedInSecondsAgo: 11 * 3_600 })
    const { status, location } = await visitor.get('/production')
    t.equal(status, 303)
    t.equal(location, '/sign-in?why=over&returnTo=%2Fproduction')
    t.match((await visitor.get('/sign-in?why=over')).text, 'Your session is over')
    t.equal((await visitor.get('/sign-in?why=constructor')).status, 200, 'whatever a link says')
  })

  await t.test('may load nothing from elsewhere, be framed by nobody, and are not kept', async (t) => {
    const { headers } = await alice.get('/production')
    const policy = headers.get('content-security-policy') ?? ''
    t.match(policy, "default-src 'self'")
    t.match(policy, "frame-ancestors 'none'")
    t.match(policy, "form-action 'self' https://identity.test")
    t.notMatch(policy, 'unsafe')
    t.equal(headers.get('cache-control'), 'no-store')
    t.equal(headers.get('x-content-type-options'), 'nosniff')
  })

  await t.test('a withdrawal is approved by one and paid by another, once each', async (t) => {
    const id = await newWithdrawal()
    const path = `/production/withdrawals/${id}`
    const approve = formOf(await alice.get(path), `${path}/approve`)
    t.match(approve, { _csrf: /./, operationId: /^opn_/ })
    t.equal((await alice.post(`${path}/approve`, { ...approve, _proof: '' })).status, 422, 'nothing is done unsigned')
    // A double click, and the back button.
    for (let clicks = 0; clicks < 3; clicks += 1) {
      const { status, location } = await alice.post(`${path}/approve`, approve)
      t.equal(status, 303)
      t.equal(location, path)
    }
    t.strictSame(
      (await bed.showWithdrawal(id)).transitions.map(({ to }) => to),
      ['under_review', 'approved'],
    )
    const shown = await alice.get(path)
    t.match(shown.text, 'You approved it yourself, so somebody else must pay it.')
    t.strictSame(formOf(shown, `${path}/pay`), {}, 'there is no form to pay it with')
    const fail = formOf(shown, `${path}/fail`)
    t.equal((await alice.post(`${path}/pay`, fail)).status, 422, 'a form does nothing but what it says')
    const own = { ...fail, shown: fail.shown?.replaceAll('"fail"', '"pay"') ?? '' }
    const { status, text } = await alice.post(`${path}/pay`, { ...own, operationId: 'opn_own_payment' })
    t.equal(status, 422)
    t.match(text, 'This takes two people')

    const bob = await bed.visitor('bob')
    const pay = await bob.get(path)
    t.match(pay.text, /Approved by alice/)
    t.match(pay.text, /Record that R\$40\.00 was paid to pix “ana@example\.com” for “Ana Souza”/)
    t.equal((await bob.submit(path, 'pay')).status, 303)
    t.match((await bob.get(path)).text, 'Done: R$40.00 paid')
  })

  await t.test('queue and case say whose money it is, and who else is paid to the same key', async (t) => {
    const key = 'same-key@example.com'
    const names = ['Ana Lima', 'Bia Reis', 'Caio Melo', 'Davi Nunes']
    const players: string[] = []
    for (const name of names) players.push(await bed.newPlayer('production', name))
    const ids: string[] = []
    for (const playerId of players) ids.push(await bed.newWithdrawal('production', playerId, key))
    const queue = (await alice.get('/production/withdrawals')).text
    const [row = ''] = queue.split('<tr').filter((part) => part.includes(`/withdrawals/${ids[0]}`))
    const page = (await alice.get(`/production/withdrawals/${ids[0]}`)).text
    t.match(row, 'Ana Lima')
    const linked = (text: string) =>
      names.filter((name, index) =>
        new RegExp(`href="/production/players/${players[index]}"[^>]*><bdi>${name}<`).test(text),
      )
    for (const text of [row, page]) t.match(text, 'also of 3 other players')
    t.strictSame(linked(row), names.slice(1, 3), 'a row has room for two')
    t.strictSame(linked(page), names, 'the case leads to its own player, too')
    t.match(
      page,
      /Balance[\s\S]*R\$150\.00[\s\S]*Reserved by withdrawals[\s\S]*R\$40\.00[\s\S]*Withdrawable[\s\S]*R\$110\.00/,
    )
    const inPortuguese = alice.as({ cookies: { language: 'pt-BR' } })
    t.match((await inPortuguese.get(`/production/withdrawals/${ids[0]}`)).text, 'usado por mais 3 jogadores')
    const two = await bed.newWithdrawal('production', await bed.newPlayer('production'), 'pair@example.com')
    t.notMatch((await alice.get(`/production/withdrawals/${two}`)).text, 'also of')
    await bed.newWithdrawal('production', await bed.newPlayer('production'), 'pair@example.com')
    t.match((await alice.get(`/production/withdrawals/${two}`)).text, 'also of another player')
  })

  await t.test('a page that asks several services does not wait for the slowest: its rest comes later', async (t) => {
    await bed.bed.services.wallet.drain()
    // To who asks, it is a process that takes its time.
    const slow = await bed.bed.nats('wallet')
    const silence = slow.subscribe('team.wallet.>')
    await slow.flush()
    const rest = /<p class="notice waits"[^>]* data-rest hx-get="([^"]*)"[^>]*>([^<]*)/
    const pages = ['', '/proposals', '/audit?actor=bob', '/sessions'].map((path) => `/production${path}`)
    for (const path of pages) {
      const { status, text } = await alice.getFirst(path)
      t.equal(status, 200, path)
      const [, href = '', says] = rest.exec(text) ?? []
      t.ok(href.startsWith(`${path}${path.includes('?') ? '&amp;' : '?'}whole=`), href)
      // On a slow machine others take their time, too, and the sentence may begin with one that is starting.
      t.match(says, /No answer yet: ([^.]*, )?balances and play[,.]/, path)
      t.notMatch(text, /is missing: [^<]*balances and play/, path)
      t.notMatch(text, 'No answer: balances and play', path)
    }
    silence.unsubscribe()
    await slow.flush()
    Object.assign(bed.bed.services, { wallet: await bed.bed.start('wallet') })
    for (const path of pages) t.notMatch((await alice.get(path)).text, 'data-rest', path)
    const kept = await bed.newProposal(playerId)
    t.match((await alice.getFirst('/production/proposals')).text, kept)
  })

  await t.test('what a page has asked for is not asked again for its rest', async (t) => {
    const asked: string[] = []
    for (const name of ['players', 'payments', 'wallet'] as const) {
      const connection = await bed.bed.nats(name)
      const heard = connection.subscribe(`team.${name}.>`, {
        callback: (_error, { subject, data, headers }) => {
          if (!headers?.has(headerNames.attempt)) asked.push(`${subject} ${Buffer.from(data)}`)
        },
      })
      // While it listens, a service that is away is one that does not answer.
      t.teardown(() => heard.unsubscribe())
      await connection.flush()
    }
    const { rollback } = await holdOpen(bed.bed.sql('admin'), 'lock table wallet.money_day in access exclusive mode')
    const first = await alice.getFirst('/production')
    t.match(first.text, 'data-rest')
    const [, href = ''] = /data-rest hx-get="([^"]*)"/.exec(first.text) ?? []
    const rest = alice.getFirst(href)
    await rollback()
    const { text } = await rest
    t.match(text, 'Money in and out by day')
    t.notMatch(text, 'No answer: balances and play')
    const isAsked = (operation: string) => asked.filter((one) => one.startsWith(`team.${operation} `)).length
    for (const operation of ['wallet.listMoneyDays', 'payments.ageWithdrawalQueue', 'players.countKycQueue'])
      t.equal(isAsked(operation), 1, operation)
    t.equal(new Set(asked).size, asked.length)
    const other = await (await bed.visitor('bob')).getFirst(href)
    t.equal(other.status, 200)
    t.equal(isAsked('wallet.listMoneyDays'), 2, 'nobody else gets what somebody has asked for')
  })

  await t.test('a service that is started when it is needed is starting, and never one that is gone', async (t) => {
    await bed.bed.services.reconciler.drain()
    for (const path of ['/production', '/production/proposals', '/production/audit']) {
      const { text } = await alice.get(path)
      t.match(
        text,
        /hx-get="[^"]*whole=[\w-]+" hx-trigger="load delay:2s"[^>]*>Starting, since it runs only when it is needed: reconciliation\./,
      )
      t.notMatch(text, /is missing: [^<]*reconciliation/, path)
    }
    const alone = await alice.get('/production/reconcile')
    t.equal(alone.headers.get('refresh'), '2')
    t.match(alone.text, 'The service runs when it is needed, and is starting.')
    Object.assign(bed.bed.services, { reconciler: await bed.bed.start('reconciler') })
    t.equal((await alice.get('/production/reconcile')).status, 200)
  })

  await t.test('an amount that one person may pay alone is paid by who approved it', async (t) => {
    const id = await bed.newWithdrawal('production', await bed.newPlayer('production'), 'ana@example.com', '10.00')
    const path = `/production/withdrawals/${id}`
    await alice.submit(path, 'approve')
    const page = await alice.get(path)
    t.match(page.text, 'Approved by alice')
    t.match(page.text, 'For an amount like this, one person is enough.')
    t.notMatch(page.text, 'You approved it yourself')
    t.equal((await alice.submit(path, 'pay')).status, 303)
    t.match((await alice.get(path)).text, 'Done: R$10.00 paid')
    t.match((await alice.get(`/production/audit?subject=${id}`)).text, 'One person may pay up to: nothing → R$10.00')
  })

  await t.test('a form of another site, or of another session, decides nothing', async (t) => {
    const id = await newWithdrawal()
    const path = `/production/withdrawals/${id}`
    const right = formOf(await alice.get(path), `${path}/approve`)
    const bob = await bed.visitor('bob')
    const { _csrf: otherToken = '' } = formOf(await bob.get(path), `${path}/approve`)
    const { _csrf: _left, ...without } = right
    for (const form of [without, { ...right, _csrf: 'x' }, { ...right, _csrf: otherToken }])
      t.equal((await alice.post(`${path}/approve`, form)).status, 403)
    for (const headers of [{ Origin: 'https://evil.test' }, { 'Sec-Fetch-Site': 'cross-site' }])
      t.equal((await alice.post(`${path}/approve`, right, headers)).status, 403)
    t.equal((await bed.showWithdrawal(id)).status, 'under_review')
  })

  await t.test('what must have a reason is not done without one, and keeps what was filled in', async (t) => {
    const id = await newWithdrawal()
    const path = `/production/withdrawals/${id}`
    t.notMatch((await alice.get(path)).text, 'name="paymentFile"', 'which is for a payment')
    const { status, text } = await alice.submit(path, 'reject', { reason: '  ' })
    t.equal(status, 422)
    t.match(text, 'aria-invalid="true"')
    const long = await alice.submit(path, 'reject', { reason: `begins so ${'x'.repeat(600)}` })
    t.equal(long.status, 422)
    t.match(long.text, 'begins so xxx')
    t.equal((await bed.showWithdrawal(id)).status, 'under_review')
  })

  await t.test('a payment takes a login of the last minutes, and comes back to its page', async (t) => {
    const id = await newWithdrawal()
    const team = bed.bed.team('bob')
    const input = { ...(await seenWithdrawal(team, id)), decision: 'approve' } as const
    await team.call(operations.payments.decideWithdrawal, { input })
    const path = `/production/withdrawals/${id}`
    const visitor = await bed.visitor('alice', { loggedInSecondsAgo: 600 })
    const again = `/login?again=yes&returnTo=${encodeURIComponent(path)}`
    const page = await visitor.get(path)
    t.match(page.text, again.replaceAll('&', '&amp;'))
    const fail = formOf(page, `${path}/fail`)
    const form = { ...fail, shown: fail.shown?.replaceAll('"fail"', '"pay"') ?? '' }
    t.equal((await visitor.post(`${path}/pay`, form)).location, again)
    const byScript = await visitor.post(`${path}/pay`, form, { 'HX-Request': 'true' })
    t.equal(byScript.headers.get('hx-redirect'), again)
    t.equal((await bed.showWithdrawal(id)).status, 'approved')
  })

  await t.test('an identity is decided with a reason, and only by whoever may', async (t) => {
    const waiting = await bed.newPlayer('production', 'Bruno Lima')
    const path = `/production/kyc/${waiting}`
    const support = await bed.visitor('support')
    const refused = await support.get(path)
    t.match(refused.text, /With other roles: [^<]*Refuse[^<]*\(compliance\)/)
    t.strictSame(formOf(refused, `${path}/approve`), {})
    const compliance = await bed.visitor('compliance')
    t.equal(
      (await compliance.submit(path, 'approve', { reason: 'The document is clear', restsOn: 'paper' })).status,
      303,
    )
    t.match((await compliance.get(path)).text, 'Done: Bruno Lima: approved')
  })

  await t.test('the latest document stands beside the case in a sandbox, for whoever may see it', async (t) => {
    const scope = bed.bed.scope({ environment: 'production' })
    const waiting = await bed.newPlayer('production', 'Dora Paz', 'doc-1', scope)
    const path = `/production/kyc/${waiting}`
    const policyOf = async (visitor: Visitor) => (await visitor.get(path)).headers.get('content-security-policy')
    const ownPolicy = await policyOf(alice)
    t.notMatch((await alice.get(path)).text, '<iframe')

    const later = { playerId: waiting, documentType: 'cnh', reference: 'doc-2' } as const
    await bed.bed.rpc.call(operations.players.submitKyc, { scope, input: later })
    const template = 'https://kyc.example/documents/{reference}'
    const input = { operatorId: scope.operatorId, environment: 'production', template, reason: 'contract' } as const
    await byTwo(bed.bed, operations.players.setDocumentUrl, input)

    const { text } = await alice.get(path)
    t.match(text, 'It comes from kyc.example.')
    t.match(text, 'This address was changed less than a day ago')
    t.match(
      text,
      /<iframe src="https:\/\/kyc\.example\/documents\/doc-2\?[^"]+"[^>]* sandbox referrerpolicy="no-referrer">/,
    )
    t.equal(text.match(/<iframe/g)?.length, 1)
    t.equal(await policyOf(alice), `${ownPolicy}; frame-src https://kyc.example`)
    t.equal((await alice.get('/production/kyc')).headers.get('content-security-policy'), ownPolicy)
    const support = await bed.visitor('support')
    t.notMatch((await support.get(path)).text, '<iframe')
    t.equal(await policyOf(support), ownPolicy)

    // Who hears the calls of players answers first, with a document of their own.
    const honest = await bed.bed.team('alice').call(operations.players.showPlayer, { input: { playerId: waiting } })
    const documentUrl = 'https://evil.example/passport?expires=1&signature=0a'
    const body = { ...honest, submissions: honest.submissions.map((submission) => ({ ...submission, documentUrl })) }
    const hostile = await bed.bed.nats('players')
    const heard = hostile.subscribe('team.players.showPlayer', {
      callback: (_error, message) => void message.respond(JSON.stringify({ body })),
    })
    await hostile.flush()
    const lied = await eventually(async () => {
      const page = await alice.get(path)
      return page.text.includes('It comes from evil.example.') && page
    })
    heard.unsubscribe()
    await hostile.flush()
    const decided = await alice.post(`${path}/approve`, { ...formOf(lied, `${path}/approve`), reason: 'clear' })
    t.equal(decided.status, 422)
    t.match(decided.text, 'It is not what this page showed.')
    t.match((await alice.get(`/production/players/${waiting}`)).text, 'in review')
    t.equal((await alice.submit(path, 'approve', { reason: 'clear' })).status, 303)
    t.match((await alice.get(`/production/players/${waiting}`)).text, 'approved')
  })

  await t.test('a case is taken, shown as taken, and decided by nobody else until it is taken over', async (t) => {
    const waiting = await bed.newPlayer('production', 'Célia Reis')
    const path = `/production/kyc/${waiting}`
    const bob = await bed.visitor('bob')
    const takeLate = formOf(await bob.get(path), `${path}/take`)
    const approveLate = formOf(await bob.get(path), `${path}/approve`)
    t.equal((await alice.submit(path, 'take')).status, 303)
    t.match((await alice.get(path)).text, 'You have this case until')
    t.match((await bob.get('/production/kyc')).text, /Célia Reis.*alice/s)
    const page = await bob.get(path)
    t.match(page.text, 'alice has this case. Take it over first.')
    t.strictSame(formOf(page, `${path}/approve`), {})
    const late = await bob.post(`${path}/take`, takeLate)
    t.equal(late.status, 422, 'a form to take a case takes it from nobody')
    t.match(late.text, 'Somebody else has taken this case.')
    t.equal((await bob.post(`${path}/approve`, { ...approveLate, reason: 'clear', restsOn: 'paper' })).status, 422)
    t.not((await bob.get(`/production/kyc/next?not=${playerId}`)).location, path)

    t.equal((await bob.submit(path, 'takeOver')).status, 303)
    t.strictSame(formOf(await alice.get(path), `${path}/approve`), {})
    t.equal((await bob.submit(path, 'release')).status, 303)
    t.match(formOf(await alice.get(path), `${path}/approve`), { operationId: /./ })
    t.strictSame(formOf(await (await bed.visitor('support')).get(path), `${path}/take`), {})
  })

  await t.test('the environments are never mixed', async (t) => {
    const sandbox = await bed.newPlayer('sandbox', 'Somebody of the sandbox')
    t.notMatch((await alice.get('/production/kyc')).text, sandbox)
    t.match((await alice.get('/sandbox/kyc')).text, sandbox)
    t.notMatch((await alice.get('/sandbox/kyc')).text, playerId)
    for (const page of ['kyc', 'players'])
      t.equal((await alice.get(`/production/${page}/${sandbox}`)).location, `/sandbox/${page}/${sandbox}`)
  })

  await t.test('players are listed with status, identity, exclusion and day, and as a file', async (t) => {
    const scope = bed.bed.scope({ environment: 'sandbox', operatorId: 'op_listed', brandId: 'brd_listed' })
    const [first, second] = [
      await bed.newPlayer('sandbox', 'Um Excluído', 'doc-1', scope),
      await bed.newPlayer('sandbox', 'A mesma pessoa', 'doc-1', scope),
    ]
    await bed.bed.team('alice').call(operations.players.selfExcludePlayer, { input: { playerId: first, until: null } })
    t.match((await alice.get('/sandbox/players?status=autoexcluido')).text, `href="/sandbox/players/${first}"`)
    // The operator is told of the other account half a minute later.
    const told = 'update players.told_status set due_at = now() where player_id = $1'
    await bed.bed.sql('admin').query(told, [first])
    const text = await eventually(async () => {
      const shown = (await alice.get('/sandbox/players?status=autoexcluido')).text
      return shown.includes(`href="/sandbox/players/${second}"`) && shown
    })
    t.match(text, 'for good')
    t.match(text, 'by another account of the same CPF, for good')
    t.notMatch(text, 'ana@example.com')
    t.match((await alice.get('/sandbox/players')).text, 'Players registered in the last 31 days')
    t.notMatch(text, 'Players registered in the last', 'who is excluded is listed however long ago')
    const file = await alice.get('/sandbox/players.csv?status=autoexcluido')
    t.match(file.text, /^id,createdAt,operatorName,operatorId,brandId,environment,externalId,name,status,kycStatus,/)
    t.match(file.text, second)
    t.match((await alice.get('/production')).text, 'href="/production/players"')
    t.equal((await alice.get('/sandbox/players')).status, 200)
    const before = await alice.get('/sandbox/players?period=yesterday')
    t.match(before.text, 'Nothing fits this filter.')
  })

  await t.test(
    'times are read to the second without a mouse, by whoever chooses it; a day is said in words',
    async (t) => {
      const visitor = await bed.visitor('alice')
      const page = '/sandbox/kyc'
      const exact = /<time [^>]*>[^<]*\d\d:\d\d:\d\d GMT[^<]*<\/time>/
      t.notMatch((await visitor.get(page)).text, exact)
      const { _csrf = '' } = formOf(await visitor.get(page), '/preferences')
      t.equal((await visitor.post('/preferences', { _csrf, times: 'exact', returnTo: page })).location, page)
      t.match((await visitor.get(page)).text, exact)
      const shown = await visitor.get('/sandbox/deposits?firstDay=2026-11-05')
      t.match(shown.text, />Thursday,? 5 November 2026<\/output>/)
      const brazilian = visitor.as({ cookies: { language: 'pt-BR' } })
      const said = (await brazilian.get('/sandbox/deposits?firstDay=2026-11-05')).text
      t.match(said, '>quinta-feira, 5 de novembro de 2026</output>')
    },
  )

  await t.test('show what operators and players wrote as text, whatever it is', async (t) => {
    const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>'`
    const turned = 'evil\u202etxt.exe'
    const id = await bed.newPlayer('production', `${hostile}${turned}`, hostile)
    const other = await bed.newPlayer('production', hostile, hostile)
    const withdrawalId = await bed.newWithdrawal('production', other, hostile)
    const audited = { playerId: id, status: 'suspenso', reason: hostile } as const
    await bed.bed.team('alice').call(operations.players.setPlayerStatus, { input: audited })
    const records = [`kyc/${id}`, `players/${id}`, `withdrawals/${withdrawalId}`]
    for (const path of [...records, 'kyc', 'withdrawals', 'audit', 'search']) {
      const { text } = await (path === 'search'
        ? alice.search('production', hostile)
        : alice.get(`/production/${path}`))
      t.match(text, '&lt;script&gt;', path)
      t.notMatch(text, /<script>|<img|\u202e/, path)
    }
    t.match((await alice.get('/production/audit')).text, 'what is kept there is missing: operators and keys, webhooks')
    t.equal((await alice.get('/production/audit.csv')).status, 503, 'a file does not say what is missing in it')
    t.match((await alice.get(`/production/players/${id}`)).text, 'evil\\u202etxt.exe')
  })

  await t.test('lists of money are there while the gateway, which knows the operators, is away', async (t) => {
    for (const path of ['deposits', 'withdrawals?status=all', 'statement'])
      t.equal((await alice.get(`/production/${path}`)).status, 200, path)
    t.equal((await alice.get('/production/deposits?operator=Aurora')).status, 503, 'nobody knows whose are meant')
  })

  await t.test('next goes through a queue from case to case, and begins again at its end', async (t) => {
    const scope = bed.bed.scope({ environment: 'sandbox', operatorId: 'op_next', brandId: 'brd_next' })
    const players = []
    for (const name of ['Um', 'Dois', 'Três']) players.push(await bed.newPlayer('sandbox', name, 'doc-1', scope))
    const nextOf = async (list: string, id: string) =>
      (await alice.get(`/sandbox/${list}/next?not=${id}`)).location?.split('/').at(-1)
    const withdrawals = []
    for (const place of [0, 1]) t.equal(await nextOf('kyc', players[place] ?? ''), players[place + 1])
    t.not(await nextOf('kyc', players[2] ?? ''), players[2])
    for (const playerId of [await bed.newPlayer('sandbox'), await bed.newPlayer('sandbox')])
      withdrawals.push(await bed.newWithdrawal('sandbox', playerId))
    t.equal(await nextOf('withdrawals', withdrawals[0] ?? ''), withdrawals[1])
    t.equal(await nextOf('withdrawals', withdrawals[1] ?? ''), withdrawals[0])
  })

  await t.test('a queue is read by age or amount, by links that say how it is read now', async (t) => {
    const ids: string[] = []
    for (const amount of ['30.00', '10.00', '20.00'])
      ids.push(await bed.newWithdrawal('sandbox', await bed.newPlayer('sandbox'), 'ana@example.com', amount))
    const path = '/sandbox/withdrawals?status=under_review'
    const shown = async (order: string) => {
      const { text } = await alice.get(`${path}${order}`)
      const current = /<nav class="tabs order".*?aria-current="page">([^<]*)</s.exec(text)?.[1]
      const rows = [...text.matchAll(/class="open"><a href="[^"]*\/(wdr_\w+)["?]/g)].map(([, id]) => id ?? '')
      return { current, rows: rows.filter((id) => ids.includes(id)) }
    }
    const [thirty, ten, twenty] = ids
    t.same(await shown(''), { current: 'Oldest first', rows: ids })
    t.same(await shown('&order=newest'), { current: 'Newest first', rows: ids.toReversed() })
    t.same(await shown('&order=largest'), { current: 'Largest first', rows: [thirty, twenty, ten] })
    t.same(await shown('&order=smallest'), { current: 'Smallest first', rows: [ten, twenty, thirty] })
    t.same(await shown('&order=nothing'), { current: 'Oldest first', rows: ids })
    // Whoever opens one there goes on in the same order, also after deciding, and back to it.
    const way = '?order=largest'
    const pathOf = (id = '') => `/sandbox/withdrawals/${id}${way}`
    const linkOf = ({ text: page }: Shown, mark: string) =>
      new RegExp(`href="([^"]*)" ${mark}`).exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''
    t.match((await alice.get(`${path}&order=largest`)).text, `href="${pathOf(thirty)}"`)
    const opened = await alice.get(pathOf(thirty))
    t.equal((await alice.get(linkOf(opened, 'data-next'))).location, pathOf(twenty))
    t.equal(linkOf(opened, 'data-back'), `${path}&order=largest`)
    t.equal((await alice.submit(pathOf(thirty), 'approve')).location, pathOf(thirty))
    const [kyc, other = ''] =
      (await alice.get('/sandbox/kyc?order=newest')).text.match(/ply_\w+(?=\?order=newest")/g) ?? []
    t.equal(
      (await alice.get(`/sandbox/kyc/next?not=${kyc}&order=newest`)).location,
      `/sandbox/kyc/${other}?order=newest`,
    )
    const { text } = await alice.get('/production/kyc?order=newest')
    t.match(text, 'aria-current="page">Newest first<')
    t.match(text, /aria-sort="ascending"><a class="sort" href="\/production\/kyc" title="Oldest first">/)
    t.notMatch(text, 'Largest first')
  })

  await t.test(
    'say in the language of the browser, or in the one that was chosen, and as dense as was chosen',
    async (t) => {
      const visitor = await bed.visitor('alice')
      const page = await visitor.get('/production')
      t.match(page.text, '<html lang="en"')
      const { _csrf = '' } = formOf(page, '/preferences')
      const { location } = await visitor.post('/preferences', { _csrf, language: 'pt-BR', returnTo: '/production' })
      t.equal(location, '/production')
      t.match((await visitor.get('/production')).text, 'Conectado como alice')
      await visitor.post('/preferences', { _csrf, density: 'compact', returnTo: '/production' })
      t.match((await visitor.get('/production/kyc')).text, 'data-density="compact"')
    },
  )

  await t.test('files are sent compressed and kept, and pages are neither', async (t) => {
    const page = await alice.get('/production', { 'Accept-Encoding': 'gzip, br' })
    t.equal(page.headers.get('content-encoding'), null)
    const [, file = ''] = /href="([^"]*console\.css)"/.exec(page.text) ?? []
    const { headers } = await alice.get(file, { 'Accept-Encoding': 'gzip, br' })
    t.match(headers.get('cache-control'), 'immutable')
    t.match([headers.get('content-encoding'), headers.get('vary')], ['br', 'Accept-Encoding'])
    t.equal((await alice.get(file, { 'If-None-Match': headers.get('etag') ?? '' })).status, 200, 'another encoding')
  })

  await t.test('the start page is there while services are away, and says which', async (t) => {
    await Promise.all([bed.bed.services.payments.drain(), bed.bed.services.reconciler.drain()])
    const { status, text } = await alice.get('/production')
    t.equal(status, 200)
    t.match(text, /To review[\s\S]{0,200}No answer: deposits and withdrawals/i)
    t.match(text, 'No answer: webhooks')
    t.match(text, 'Starting, since it runs only when it is needed: reconciliation', 'which is no fault on one machine')
    t.match(text, /data-count="kyc">\d+</)
    t.notMatch((await (await bed.visitor('compliance')).get('/production')).text, 'Failing webhooks')
    t.equal((await fetch(`${bed.healthUrl}/readyz`)).status, 200, 'the console itself works')
  })
})
