import { both } from './both.ts'

/** Texts of the pages about play: providers of games, rounds, held wins and days. */
export const playWords = {
  rounds: ['Rounds', 'Rodadas'],
  allRounds: ['All', 'Todas'],
  roundOf: ['Round of {game}', 'Rodada de {game}'],
  roundShort: ['round …{end}', 'rodada …{end}'],
  stillOpen: ['Still open', 'Ainda abertas'],
  openRounds: ['Open', 'Abertas'],
  openRoundsLong: ['Rounds open for a day', 'Rodadas abertas há um dia'],
  openByProvider: ['By provider and brand', 'Por provedor e marca'],
  noneOpen: both`No round is open. A round is begun by a bet, and ended by its provider.
    Nenhuma rodada aberta. Uma rodada começa com uma aposta e é encerrada pelo provedor.`,
  anyRoundId: ['rnd_…, led_…', 'rnd_…, led_…'],
  plays: ['Plays', 'Jogadas'],
  playsOrder: both`The last play first, refusals too. Our time stands above the provider’s, its transaction above our request and the SHA-256 of what it signed.
    A última jogada primeiro, também as recusas. Abaixo da nossa hora fica a do provedor; abaixo da transação dele, a nossa requisição e o SHA-256 do que ele assinou.`,
  playsOrderPart: both`The first {count} plays, the last of them first. The others are read on the command line: rounds show.
    As primeiras {count} jogadas, a última delas primeiro. As outras são lidas na linha de comando: rounds show.`,
  playsRefused: both`Refused plays, also those before a round was open. Enter a player or a transaction to see all plays.
    As que foram recusadas, também antes de abrir uma rodada. Informe um jogador ou uma transação para ver todas.`,
  byProvider: ['provider: {time}', 'provedor: {time}'],
  ofSpin: ['of a spin', 'de um giro'],
  ofBet: ['of the bet {bet}', 'da aposta {bet}'],
  rtpAtBet: ['RTP {rtp} % at the bet', 'RTP {rtp} % na aposta'],
  playerAtBet: ['player {status}, identity {kyc}', 'jogador: {status}; identidade: {kyc}'],
  roundsCount: ['rounds: {count}', 'rodadas: {count}'],
  limitAtBet: ['deposits of the day {deposits} of {limit}', 'depósitos do dia {deposits} de {limit}'],
  detailsOpen: ['Page of the provider', 'Página do provedor'],
  ledgerEntry: ['ledger entry', 'lançamento'],
  voidRoundAsk: both`Give {staked} back to the player: all bets of this round of {provider} at {operator}. Ask the provider first what became of the round.
    Devolver {staked} ao jogador: todas as apostas desta rodada de {provider} em {operator}. Pergunte antes ao provedor o que houve com a rodada.`,
  voidRoundDone: ['round voided, {staked} given back', 'rodada anulada, {staked} devolvidos'],
  closeRoundAsk: both`Close this round of {provider} at {operator} as it is: of the {staked} that were staked, what was not won is lost. A late win is still paid.
    Encerrar esta rodada de {provider} em {operator} como está: dos {staked} apostados, o que não foi ganho fica perdido. Um ganho atrasado ainda é pago.`,
  closeRoundDone: ['round closed', 'rodada encerrada'],

  voidRoundWhat: both`Void a round of {provider} at {operator} ({id}): {amount} of bets go back to the player
    Anular uma rodada de {provider} em {operator} ({id}): {amount} em apostas voltam para o jogador`,
  endRoundWhat: both`Close a round of {provider} at {operator} ({id}) as it is: of {amount} of bets, what was not won is lost
    Encerrar uma rodada de {provider} em {operator} ({id}) como está: de {amount} em apostas, o que não foi ganho fica perdido`,
  releaseWinWhat: both`Release a win of {amount} of {provider} at {operator} ({id}) for {player}
    Liberar um ganho de {amount} de {provider} em {operator} ({id}) para {player}`,

  heldWins: ['Held wins', 'Ganhos retidos'],
  'empty.heldWins': both`No win is held. One above the limit of its provider waits here for two people.
    Nenhum ganho retido. O que passa do limite do provedor espera aqui por duas pessoas.`,
  releaseWinAsk: both`Let {provider} pay {amount} to the player: it is credited when the provider sends it again, within five minutes.
    Permitir que {provider} pague {amount} ao jogador: é creditado quando o provedor o enviar de novo, em até cinco minutos.`,
  releaseWinDone: ['{amount} of {provider} released', '{amount} de {provider} liberado'],
  winReleased: both`It is released, and is paid when the provider sends it again.
    Foi liberado, e é pago quando o provedor o enviar de novo.`,
  largeWinsCount: ['{count} of {from} or more in {days} days', '{count} de {from} ou mais em {days} dias'],

  playDays: ['By day', 'Por dia'],
  byDay: ['Days', 'Dias'],
  playDaysWhat: both`Choose an operator. The days are those of its time zone.
    Escolha um operador. Os dias são os do fuso horário dele.`,
  playDaysOf: both`{operator}, from {from} to {to}; whole days of {timeZone}. GGR is bets without wins and rollbacks; jackpots and promotions stand beside it.
    {operator}, de {from} a {to}; dias inteiros de {timeZone}. GGR são as apostas menos ganhos e devoluções; jackpots e promoções ficam à parte.`,
  ggrByDay: ['GGR by day, {currency}: from {low} to {high}', 'GGR por dia, {currency}: de {low} a {high}'],
  'empty.byDay': ['Nothing was played on these days.', 'Nada foi jogado nestes dias.'],
  'empty.rounds': both`No round. One is here as soon as somebody stakes money in a game.
    Nenhuma rodada. Ela aparece aqui assim que alguém aposta dinheiro em um jogo.`,
  'empty.plays': ['No play.', 'Nenhuma jogada.'],

  providers: ['Providers', 'Provedores'],
  'empty.providers': both`No provider yet. Create the first, grant it a brand, issue a key, and say which games it serves.
    Nenhum provedor ainda. Crie o primeiro, conceda uma marca, emita uma chave e diga quais jogos ele serve.`,
  grants: ['Brands granted', 'Marcas concedidas'],
  grantsWhat: ['A win above the limit waits for two people.', 'Um ganho acima do limite espera por duas pessoas.'],
  'empty.grants': both`No brand of this environment. “Grant a brand” lets its players play for money.
    Nenhuma marca deste ambiente. “Conceder uma marca” permite que seus jogadores joguem a dinheiro.`,
  createProviderAsk: both`It has no key and no brand yet: both follow on its page.
    Ele ainda não tem chave nem marca: ambas vêm depois, na página dele.`,
  providerAsk: ['For {provider}, in both environments.', 'Para {provider}, nos dois ambientes.'],
  grantAsk: both`Let {provider} move money of the players of a brand in {environment}.
    Permitir que {provider} movimente dinheiro dos jogadores de uma marca em {environment}.`,
  issueProviderKeyAsk: both`A pair of {provider} for {environment}. Its secret is shown once; keys issued before go on working.
    Um par de {provider} para {environment}. O segredo é mostrado uma única vez; as chaves anteriores continuam valendo.`,
  suspendProviderAsk: both`Refuse all bets of {provider} within a second, in both environments. What was begun is settled.
    Recusar todas as apostas de {provider} em um segundo, nos dois ambientes. O que já começou é liquidado.`,
  suspendGrant: ['Suspend this brand', 'Suspender esta marca'],
  suspendGrantAsk: both`Refuse the bets of {provider} at {operator}. What was begun is settled.
    Recusar as apostas de {provider} em {operator}. O que já começou é liquidado.`,
  grantAgain: ['Grant it again', 'Conceder de novo'],
  grantAgainAsk: both`Take the bets of {provider} at {operator} again.
    Aceitar de novo as apostas de {provider} em {operator}.`,
  winLimitAsk: both`What one win of {provider} at {operator} may be without two people. A real jackpot waits for them too, day and night.
    Quanto um ganho de {provider} em {operator} pode ser sem duas pessoas. Um jackpot de verdade também espera por elas, dia e noite.`,
  games: ['Games', 'Jogos'],
  noProviderLong: ['Nobody: no money is staked in it', 'Ninguém: não se aposta dinheiro nele'],
  noProviderNow: ['Let nobody serve it for money', 'Deixar sem provedor'],
  gameProviderAsk: both`Say which provider may stake money in {game}. Sessions of it that are open with another one take no bets any more.
    Dizer qual provedor pode apostar dinheiro em {game}. Sessões abertas com outro provedor não aceitam mais apostas.`,

  'field.find': ['Any id', 'Qualquer id'],
  'field.olderThan': ['Open for', 'Aberta há'],
  'field.provider': ['Provider', 'Provedor'],
  'field.providerId': ['Provider', 'Provedor'],
  'field.stakesPerMinute': ['Bets a minute', 'Apostas por minuto'],
  'field.othersPerMinute': ['Other calls a minute', 'Outras chamadas por minuto'],
  'field.brands': ['Brands', 'Marcas'],
  'field.grantedAt': ['Granted', 'Concedida'],
  'field.grant': ['Grant', 'Concessão'],
  'value.grant.active': ['active', 'ativa'],
  'value.grant.suspended': ['suspended', 'suspensa'],
  'field.maxWin': ['Win without two people', 'Ganho sem duas pessoas'],
  'field.rounds': ['Rounds', 'Rodadas'],
  'field.roundId': ['Round', 'Rodada'],
  'field.roundState': ['State of the round', 'Estado da rodada'],
  'field.staked': ['Staked', 'Apostado'],
  'field.won': ['Won', 'Ganho'],
  'field.rolledBack': ['Given back', 'Devolvido'],
  'field.openedAt': ['Opened', 'Aberta'],
  'field.openFor': ['Open since', 'Aberta desde'],
  'field.closedAt': ['Ended', 'Encerrada'],
  'field.closedBy': ['Ended by', 'Encerrada por'],
  'field.game': ['Game', 'Jogo'],
  'field.gameId': ['Id of the game', 'Id do jogo'],
  'field.studio': ['Made by', 'Estúdio'],
  'field.rtp': ['RTP', 'RTP'],
  'field.plays': ['Plays', 'Jogadas'],
  'field.play': ['Play', 'Jogada'],
  'field.open': ['Open rounds', 'Rodadas abertas'],
  'field.balanceMoved': ['Balance: from, to', 'Saldo: de, para'],
  'field.oldestAt': ['Oldest', 'Mais antiga'],
  'field.detailsUrl': ['At the provider', 'No provedor'],
  'field.transactionId': ['Transaction', 'Transação'],
  'field.requested': ['Requested', 'Valor pedido'],
  'field.heldSince': ['Held since', 'Retido desde'],
  'field.releasedAt': ['Released', 'Liberado'],
  'field.largeWins': ['Large wins', 'Ganhos altos'],
  'field.day': ['Day', 'Dia'],
  'field.bets': ['Bets', 'Apostas'],
  'field.wins': ['Wins', 'Ganhos'],
  'field.rollbacks': ['Rolled back', 'Devoluções'],
  'field.jackpots': ['Jackpots', 'Jackpots'],
  'field.promotions': ['Promotions', 'Promoções'],
  'field.ggr': ['GGR', 'GGR'],

  'value.24h': ['a day', 'um dia'],
  'value.72h': ['three days', 'três dias'],
  'value.closed': ['closed', 'encerrada'],
  'value.void': ['void', 'anulada'],
  'value.bet': ['bet', 'aposta'],
  'value.win': ['win', 'ganho'],
  'value.rollback': ['rollback', 'devolução'],
  'value.jackpot': ['jackpot', 'jackpot'],
  'value.free_round': ['free round', 'rodada grátis'],
  'value.promotion': ['promotion', 'promoção'],
  'value.posted': ['booked', 'registrada'],
  'value.refused': ['refused', 'recusada'],
  'value.voided': ['rollback came first', 'devolução chegou antes'],
  'value.noted': ['nothing to give back', 'nada a devolver'],
  'value.rolledBack': ['rolled back', 'devolvida'],
  'value.self_exclusion': ['self-exclusion', 'autoexclusão'],
  'value.daily_limit': ['daily limit of deposits', 'limite diário de depósitos'],
  'value.sandbox_trigger': ['game of the sandbox that blocks', 'jogo do sandbox que bloqueia'],
  'value.released': ['released', 'liberado'],
  'value.noProvider': ['no money', 'sem dinheiro'],
  'value.BET': ['bet', 'aposta'],
  'value.WIN': ['win', 'ganho'],
  'value.ROLLBACK': ['bet given back', 'aposta devolvida'],
  'value.JACKPOT': ['jackpot', 'jackpot'],
  'value.PROMOTION': ['promotion', 'promoção'],
  'value.by.bet': ['its bet', 'a aposta'],
  'value.by.win': ['its win', 'o ganho'],
  'value.by.spin': ['a spin', 'um giro'],
  'value.by.close': ['the provider', 'o provedor'],
  'value.by.rollback': ['the last rollback', 'a última devolução'],
  'value.by.team': ['the team', 'a equipe'],

  'operation.createProvider': ['Create a provider', 'Criar um provedor'],
  'operation.listProviders': ['List providers of games', 'Listar provedores de jogos'],
  'operation.getProvider': ['Look at a provider', 'Ver um provedor'],
  'operation.setProviderGrant': ['Grant a brand', 'Conceder uma marca'],
  'operation.setProviderLimits': ['Change limits', 'Alterar limites'],
  'operation.suspendProvider': ['Suspend the provider', 'Suspender o provedor'],
  'operation.activateProvider': ['Activate the provider', 'Ativar o provedor'],
  'operation.issueProviderKey': ['Issue a key', 'Emitir uma chave'],
  'operation.revokeProviderKey': ['Revoke a key', 'Revogar uma chave'],
  'operation.listGameProviders': ['List games and who serves them', 'Listar jogos e quem os serve'],
  'operation.setGameProvider': ['Set the provider of the game', 'Definir o provedor do jogo'],
  'operation.listRounds': ['List rounds', 'Listar rodadas'],
  'operation.listPlays': ['List plays', 'Listar jogadas'],
  'operation.recallRound': ['Recall a round', 'Rever uma rodada'],
  'operation.countOpenRounds': ['Count open rounds', 'Contar rodadas abertas'],
  'operation.voidRound': ['Void: give the bets back', 'Anular: devolver as apostas'],
  'operation.endRound': ['Close as it is', 'Encerrar como está'],
  'operation.listHeldWins': ['List held wins', 'Listar ganhos retidos'],
  'operation.releaseWin': ['Release the win', 'Liberar o ganho'],
  'operation.listWinLimits': ['List the limits of wins', 'Listar os limites de ganhos'],
  'operation.setWinLimit': ['Set the limit of a win', 'Definir o limite de um ganho'],
  'operation.listPlayDays': ['Sum play by day', 'Somar o jogo por dia'],
  'operation.exportPlayDay': ['Export the plays of a day', 'Exportar as jogadas de um dia'],

  'error.PROVIDER_NOT_FOUND': ['There is no such provider.', 'Este provedor não existe.'],
  'error.PROVIDER_ALREADY_EXISTS': ['A provider with this name exists.', 'Já existe um provedor com este nome.'],
  'error.ROUND_NOT_FOUND': ['There is no such round.', 'Esta rodada não existe.'],
  'error.ROUND_NOT_OPEN': ['The round is no longer open.', 'A rodada já não está aberta.'],
  'error.ROUND_HAS_WINS': both`The round was won, so its bets are not given back. Close it instead.
    A rodada teve ganho, então as apostas não são devolvidas. Encerre-a.`,
  'error.HELD_WIN_NOT_FOUND': both`No such win is held: it may be released or paid.
    Este ganho não está retido: pode ter sido liberado ou pago.`,
  'error.GAME_NOT_FOUND': ['There is no such game here.', 'Este jogo não existe aqui.'],
  // Why a play was refused, or answered as an error
  'error.RG_BLOCKED': ['Self-exclusion or daily limit.', 'Autoexclusão ou limite diário.'],
  'error.PLAYER_NOT_ACTIVE': ['The player is not active.', 'O jogador não está ativo.'],
  'error.KYC_NOT_APPROVED': ['The identity is not approved.', 'A identidade não está aprovada.'],
  'error.SESSION_EXPIRED': ['The game session has ended.', 'A sessão de jogo terminou.'],
  'error.SESSION_NOT_FOUND': both`The player has no such session with this provider.
    O jogador não tem esta sessão com este provedor.`,
  'error.OPERATOR_SUSPENDED': ['The operator is suspended.', 'O operador está suspenso.'],
  'error.PROVIDER_SUSPENDED': both`The provider, or its grant for the brand, is suspended.
    O provedor está suspenso, ou a concessão da marca.`,
  'error.BRAND_NOT_GRANTED': ['The provider was not granted the brand.', 'A marca não foi concedida ao provedor.'],
  'error.TRANSACTION_NOT_FOUND': ['There is no such transaction.', 'Esta transação não existe.'],
  'error.TRANSACTION_CONFLICT': both`The id of the transaction was used for something else.
    O id da transação já foi usado para outra coisa.`,
  'error.TRANSACTION_ROLLED_BACK': ['The bet was rolled back.', 'A aposta foi devolvida.'],
  'error.ROUND_CLOSED': ['The round was closed.', 'A rodada estava encerrada.'],
  'error.ROUND_VOIDED': ['The bets had been given back.', 'As apostas já tinham sido devolvidas.'],
  'error.BET_NOT_FOUND': ['No bet of the round is known.', 'Nenhuma aposta da rodada é conhecida.'],
  'error.BET_REFUSED': ['The bet had been refused.', 'A aposta tinha sido recusada.'],
  'error.BET_ALREADY_SETTLED': ['The bet has a result.', 'A aposta já tem resultado.'],
  'error.NOT_A_BET': ['It is no bet, so it is not rolled back.', 'Não é uma aposta, então não é devolvida.'],
  'error.CURRENCY_MISMATCH': ['The currency is not the player’s.', 'A moeda não é a do jogador.'],
  'error.DAILY_QUOTA_EXCEEDED': ['The quota of the day is used up.', 'A cota do dia acabou.'],
  'error.WIN_HELD': ['The win waits for two people.', 'O ganho espera por duas pessoas.'],
} as const

/** Help of the forms of providers, and what differences of play mean, in Portuguese. */
export const portuguesePlaySentences: Readonly<Record<string, string>> = {
  'Positive decimal string with at most 2 decimal places.': '',
  'IPv4 or IPv6, with or without a prefix length; empty: any address.': 'IPv4 ou IPv6, com ou sem tamanho de prefixo.',
  'Unique among providers.': 'Único entre os provedores.',
  'Bets and spins a minute, by environment.': 'Apostas e giros por minuto, em cada ambiente.',
  'Wins, rollbacks, closes and reads a minute, by environment.':
    'Ganhos, devoluções, encerramentos e leituras por minuto, em cada ambiente.',
  // What a difference of a reconciliation means
  'The play of an entry is gone.': 'A jogada de um lançamento desapareceu.',
  'The hash does not cover what is stored: this row, its transfer, its play or the one before was changed.':
    'O hash não corresponde ao que está guardado: esta linha, sua transferência, sua jogada ou a anterior foi alterada.',
  'A transaction of a provider of games and the ledger do not agree (minor units).':
    'Uma transação de um provedor de jogos e o razão não conferem (em centavos).',
  'A round and its plays do not agree.': 'Uma rodada e suas jogadas não conferem.',
  'A transaction of a provider of games is not of its round.':
    'Uma transação de um provedor de jogos não é da rodada dela.',
  'A win or a rollback does not belong to the bet that it names (minor units).':
    'Um ganho ou uma devolução não pertence à aposta que cita (em centavos).',
  'A win above the limit of its provider was paid, and two people have neither released it nor raised that.':
    'Um ganho acima do limite do provedor foi pago, e duas pessoas não o liberaram nem aumentaram o limite.',
  'A bet was not staked in an open session of its player and game.':
    'Uma aposta não foi feita em uma sessão aberta do seu jogador e jogo.',
  'A bet was booked during a self-exclusion of the person.':
    'Uma aposta foi registrada durante uma autoexclusão da pessoa.',
  'The sums of a day of play are not those of the ledger.': 'As somas de um dia de jogo não são as do razão.',
  'The sums of a day of play are not what its operator was told.':
    'As somas de um dia de jogo não são as que o operador recebeu.',
}

/** What is said otherwise in English: the form has a choice for it. */
export const englishPlaySentences: Readonly<Record<string, string>> = {
  'Positive decimal string with at most 2 decimal places.': '',
  'IPv4 or IPv6, with or without a prefix length; empty: any address.':
    'IPv4 or IPv6, with or without a prefix length.',
}
