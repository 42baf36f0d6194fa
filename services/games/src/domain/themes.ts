/** Outlines in a box of 100 by 100. They are drawn, so no font is needed. */
export const shapes = {
  gem: 'M28 12H72L94 40L50 92L6 40Z',
  crown: 'M8 80L14 26L36 50L50 14L64 50L86 26L92 80Z',
  star: 'M50 6L62.5 36.5L95 38.5L70 59.5L78 92L50 74.5L22 92L30 59.5L5 38.5L37.5 36.5Z',
  coin: 'M50 8A42 42 0 1 1 49.9 8ZM50 26A24 24 0 1 0 50.1 26Z',
  bell: 'M50 8C72 8 78 28 80 50C81 62 88 68 92 76H8C12 68 19 62 20 50C22 28 28 8 50 8ZM38 82H62A12 12 0 0 1 38 82Z',
  leaf: 'M12 88C8 40 36 8 90 10C94 62 62 94 24 82L60 42L18 78Z',
  drop: 'M50 6C66 34 82 48 82 64A32 30 0 0 1 18 64C18 48 34 34 50 6Z',
  bolt: 'M60 4L18 56H46L38 96L82 40H54Z',
  moon: 'M60 6A45 45 0 1 0 94 62A38 38 0 0 1 60 6Z',
  seven: 'M14 10H86V30L52 94H24L58 32H14Z',
  heart: 'M50 90C6 58 4 34 14 22C26 8 44 14 50 30C56 14 74 8 86 22C96 34 94 58 50 90Z',
  clover:
    'M50 48C30 54 12 44 18 28C24 14 44 20 48 40C46 18 58 6 70 14C84 24 72 42 54 46C76 44 90 56 82 70C74 82 56 72 52 54L60 94H48Z',
} as const
type Shape = keyof typeof shapes

/** How a game looks: the colours of its symbols, from the rarest to the most common, and the two of its scenery. */
interface Theme {
  readonly symbols: Readonly<Partial<Record<Shape, string>>>
  readonly scenery: readonly [from: string, to: string]
}

const classic: Theme = {
  symbols: { seven: '#d7263d', bell: '#f2a900', heart: '#e2528f', drop: '#2f80ed', leaf: '#3fa34d' },
  scenery: ['#7a1f2b', '#2b0d3a'],
}

const themes: Readonly<Record<string, Theme>> = {
  'fortune-reels': {
    symbols: { gem: '#1fa2ff', crown: '#f2a900', clover: '#2e9e4f', coin: '#d98e04', bell: '#b5651d' },
    scenery: ['#14532d', '#052e2b'],
  },
  'amazon-gold': {
    symbols: { crown: '#f2a900', coin: '#d98e04', clover: '#2e9e4f', leaf: '#57a639', drop: '#1fa2ff' },
    scenery: ['#3f6212', '#1a2e05'],
  },
  'carnival-nights': {
    symbols: { star: '#f2a900', heart: '#e2528f', crown: '#a855f7', bell: '#f97316', moon: '#64748b' },
    scenery: ['#86198f', '#3b0764'],
  },
  'ocean-treasure': {
    symbols: { gem: '#14b8a6', coin: '#f2a900', star: '#f97316', moon: '#6366f1', drop: '#0ea5e9' },
    scenery: ['#075985', '#082f49'],
  },
  'star-miner': {
    symbols: { star: '#facc15', bolt: '#f97316', gem: '#8b5cf6', moon: '#94a3b8', coin: '#b45309' },
    scenery: ['#312e81', '#0b1026'],
  },
  'lucky-tiger': {
    symbols: { seven: '#dc2626', crown: '#f2a900', coin: '#d98e04', heart: '#ef4444', leaf: '#4d7c0f' },
    scenery: ['#9a3412', '#450a0a'],
  },
  'crystal-cave': {
    symbols: { gem: '#a855f7', star: '#06b6d4', bolt: '#22c55e', drop: '#60a5fa', moon: '#64748b' },
    scenery: ['#155e75', '#1e1b4b'],
  },
  'fruit-classic': classic,
  'wallet-reels': {
    symbols: { crown: '#f2a900', gem: '#14b8a6', bolt: '#f97316', clover: '#2e9e4f', coin: '#b45309' },
    scenery: ['#1e3a8a', '#111827'],
  },
}

/** A game without a theme of its own gets the classic one. */
export function themeOf(gameId: string) {
  const { symbols, scenery } = themes[gameId] ?? classic
  const [from, to] = scenery
  return { symbols: Object.entries(symbols) as readonly (readonly [shape: Shape, color: string])[], from, to }
}
