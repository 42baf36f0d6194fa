/** How a game looks: the symbols from the rarest to the most common, and the two colours of its scenery. */
export interface Theme {
  readonly symbols: readonly [string, string, string, string, string]
  readonly from: string
  readonly to: string
}

const classic: Theme = { symbols: ['7️⃣', '🔔', '🍒', '🍋', '🍇'], from: '#7a1f2b', to: '#2b0d3a' }

const themes: Readonly<Record<string, Theme>> = {
  'fortune-reels': { symbols: ['💎', '👑', '🍀', '🪙', '🔔'], from: '#14532d', to: '#052e2b' },
  'amazon-gold': { symbols: ['🗿', '🦜', '🐆', '🌺', '🍃'], from: '#3f6212', to: '#1a2e05' },
  'carnival-nights': { symbols: ['🎭', '🪇', '🥁', '🎉', '🎈'], from: '#86198f', to: '#3b0764' },
  'ocean-treasure': { symbols: ['🧜', '🐙', '🐬', '🐠', '🐚'], from: '#075985', to: '#082f49' },
  'star-miner': { symbols: ['🚀', '🛸', '🪐', '⭐', '🌑'], from: '#312e81', to: '#0b1026' },
  'lucky-tiger': { symbols: ['🐯', '🧧', '🏮', '🪙', '🎋'], from: '#9a3412', to: '#450a0a' },
  'crystal-cave': { symbols: ['💠', '🔮', '💎', '🪨', '🦇'], from: '#155e75', to: '#1e1b4b' },
  'fruit-classic': classic,
}

/** A game without a theme of its own gets the classic one. */
export function themeOf(gameId: string): Theme {
  return themes[gameId] ?? classic
}
