import { operations } from '@backoffice/contracts'
import type { Command } from 'commander'
import { type BrandOptions, changing, ofBrand, reasonOf, run } from '../leaf.ts'
import { printRecord } from '../output.ts'

const { setGameAvailability } = operations.players

export function addGames(root: Command): void {
  const games = root.command('games').description("Games of a brand's catalogue")
  for (const [verb, available] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    ofBrand(changing(games.command(verb)))
      .description(available ? "Put a game into a brand's catalogue" : "Take a game out of a brand's catalogue")
      .argument('<gameId>')
      .action((gameId: string, options: BrandOptions) =>
        run(
          options,
          async (session) => {
            const { id: brandId } = await session.brand(options.operator, options.env)
            return session.act(
              setGameAvailability,
              { brandId, gameId, available, ...reasonOf(options) },
              options.operationId,
            )
          },
          printRecord,
        ),
      )
  }
}
