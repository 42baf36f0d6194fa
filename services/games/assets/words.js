/** The words of the page. A name in braces stands for a value. */
export const words = {
  en: {
    badge: 'Demonstration · fictitious balance',
    untitled: 'Demonstration game',
    demonstration: 'demonstration',
    timeLeft: 'Time left',
    minutesLeft: 'Minutes left in this session: {minutes}',
    reels: 'Three reels',
    loading: 'Loading…',
    invitation: 'Choose a stake and spin.',
    won: 'You win {win}!',
    lost: 'No win this time.',
    balance: 'The balance does not cover this stake.',
    limited: 'Too many requests. Wait a minute, then try again.',
    disconnected: 'No connection. Try again.',
    again: 'Try again',
    currentBalance: 'Balance',
    stake: 'Stake',
    spin: 'Spin',
    pays: 'What it pays',
    threePay: '3 pay ×{pays}',
    twoPay: '2 pay ×{pays}',
    fairness: 'The server decides every outcome. No money is involved.',
    ended: 'This session has ended',
    lastBalance: 'Your last balance was {balance}.',
    openAgain:
      'To play on, close this game and open it again on the site you came from. A new session starts with a new balance.',
    walletDemonstration: 'sandbox',
    walletBadge: 'Sandbox · balance of the wallet',
    walletFairness:
      'The server decides every outcome. It is played for money of the sandbox: no real money is involved.',
    walletOpenAgain: 'To play on, close this game and open it again on the site you came from.',
    asking: 'We are asking what became of this spin…',
    unknown: 'We do not know yet what became of this spin. Your balance will show it.',
    elsewhere: 'This spin was played in another window.',
    refused: 'This spin was refused.',
    excluded: 'You have excluded yourself from playing.',
    overLimit: 'Your deposits of today are over your daily limit.',
    inactive: 'Your account may not play at the moment.',
    unchecked: 'Your identity check does not allow play at the moment.',
    suspended: 'This game is suspended at the moment.',
  },
  'pt-BR': {
    badge: 'Demonstração · saldo fictício',
    untitled: 'Jogo de demonstração',
    demonstration: 'demonstração',
    timeLeft: 'Tempo restante',
    minutesLeft: 'Minutos restantes nesta sessão: {minutes}',
    reels: 'Três rolos',
    loading: 'Carregando…',
    invitation: 'Escolha a aposta e gire.',
    won: 'Você ganhou {win}!',
    lost: 'Não foi desta vez.',
    balance: 'O saldo não cobre esta aposta.',
    limited: 'Solicitações demais. Espere um minuto e tente de novo.',
    disconnected: 'Sem conexão. Tente de novo.',
    again: 'Tentar de novo',
    currentBalance: 'Saldo',
    stake: 'Aposta',
    spin: 'Girar',
    pays: 'Quanto paga',
    threePay: '3 pagam ×{pays}',
    twoPay: '2 pagam ×{pays}',
    fairness: 'O servidor decide cada resultado. Não há dinheiro envolvido.',
    ended: 'Esta sessão terminou',
    lastBalance: 'Seu último saldo foi {balance}.',
    openAgain:
      'Para continuar, feche este jogo e abra-o de novo no site de onde você veio. Uma nova sessão começa com um novo saldo.',
    walletDemonstration: 'sandbox',
    walletBadge: 'Sandbox · saldo da carteira',
    walletFairness:
      'O servidor decide cada resultado. Joga-se com dinheiro do sandbox: não há dinheiro real envolvido.',
    walletOpenAgain: 'Para continuar, feche este jogo e abra-o de novo no site de onde você veio.',
    asking: 'Estamos verificando o que aconteceu com este giro…',
    unknown: 'Ainda não sabemos o que aconteceu com este giro. Seu saldo dirá.',
    elsewhere: 'Este giro foi jogado em outra janela.',
    refused: 'Este giro foi recusado.',
    excluded: 'Você se autoexcluiu do jogo.',
    overLimit: 'Seus depósitos de hoje passam do seu limite diário.',
    inactive: 'Sua conta não pode jogar no momento.',
    unchecked: 'Sua verificação de identidade não permite jogar no momento.',
    suspended: 'Este jogo está suspenso no momento.',
  },
}

/** What a symbol is called, by its shape. */
export const symbolNames = {
  en: {
    gem: 'gem',
    crown: 'crown',
    star: 'star',
    coin: 'coin',
    bell: 'bell',
    leaf: 'leaf',
    drop: 'drop',
    bolt: 'bolt',
    moon: 'moon',
    seven: 'seven',
    heart: 'heart',
    clover: 'clover',
  },
  'pt-BR': {
    gem: 'gema',
    crown: 'coroa',
    star: 'estrela',
    coin: 'moeda',
    bell: 'sino',
    leaf: 'folha',
    drop: 'gota',
    bolt: 'raio',
    moon: 'lua',
    seven: 'sete',
    heart: 'coração',
    clover: 'trevo',
  },
}

/** What a language calls itself. */
export const languageNames = { en: 'English', 'pt-BR': 'Português' }

/** The first language of somebody's list that the page speaks, or English. */
export function preferredLanguage(list) {
  const spoken = new Map([
    ['en', 'en'],
    ['pt', 'pt-BR'],
  ])
  const known = list.map((tag) => spoken.get(tag.toLowerCase().split('-')[0]))
  return known.find((language) => language !== undefined) ?? 'en'
}
