const scenarios: Readonly<Record<string, () => Promise<unknown>>> = {
  ratios: () => import('./ratios.ts'),
  deposits: () => import('./deposits.ts'),
  mixed: () => import('./mixed.ts'),
}

const words = process.argv.slice(2)
const name = words[0] === undefined || words[0].startsWith('-') ? 'ratios' : words.shift()
const scenario = scenarios[name ?? '']
if (scenario === undefined) {
  process.stderr.write(`there is no scenario ${name}: it is one of ${Object.keys(scenarios).join(', ')}\n`)
  process.exitCode = 1
} else {
  // Each scenario reads its own options.
  process.argv.splice(2, process.argv.length, ...words)
  await scenario()
}
