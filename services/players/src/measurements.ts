import { measurement } from '@backoffice/process'
import type { GameProvider } from './games/game-provider.ts'

export const providerMeasurement = (provider: GameProvider) =>
  measurement({
    gauges: {
      'backoffice.provider.breaker_open': { description: '1 while launches are refused without asking the provider' },
    },
    read: async () => ({ 'backoffice.provider.breaker_open': [{ value: provider.isResting ? 1 : 0 }] }),
  })
