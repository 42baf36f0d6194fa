import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SampleLanguage } from '../src/index.ts'
import type { Workshop } from './workshop.ts'

/** A sample as a reader has it, its ids filled in. */
export interface Program {
  readonly operationId: string
  readonly filename: string
  readonly code: string
}

interface Runner {
  /** What must be installed, and where Debian has it. */
  readonly command: string
  readonly debianPackage: string
  /** Runs one program as its first line says. @returns what it printed */
  asPasted(shop: Workshop, program: Program, env: Environment): string
  /** Runs them all. @returns what each printed, by its operation */
  all(shop: Workshop, programs: readonly Program[], env: Environment): ReadonlyMap<string, string>
}
type Environment = Readonly<Record<string, string>>

const driver = (name: string) => fileURLToPath(new URL(`./drivers/${name}`, import.meta.url))
const save = (shop: Workshop, { filename, code }: Program) => shop.write(filename, code)

interface Script {
  readonly command: string
  readonly debianPackage: string
  /** Runs all in one process, for what takes longer to start than to run a program. */
  readonly together?: string
  /** What must be in the folder. */
  readonly prepare?: (shop: Workshop) => void
}

/** A language whose programs are run as they are. */
function script({ command, debianPackage, together, prepare = () => {} }: Script): Runner {
  const asPasted: Runner['asPasted'] = (shop, program, env) => {
    prepare(shop)
    return shop.run(command, [save(shop, program)], env)
  }
  return {
    command,
    debianPackage,
    asPasted,
    all(shop, programs, env) {
      if (together === undefined) return new Map(programs.map((one) => [one.operationId, asPasted(shop, one, env)]))
      prepare(shop)
      const files = programs.map((program) => save(shop, program))
      return sections(shop.run(command, [driver(together), ...files], env), namesOf(programs))
    },
  }
}

/** What several programs printed, each after a line with its name. */
function sections(output: string, names: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const parts = output.split(/^--- ([\w-]+)\n/m).slice(1)
  return new Map(
    [...names].map(([operationId, name]) => [operationId, parts[parts.indexOf(name) + 1] ?? `${name} is missing`]),
  )
}

/** The name of a file, which is that of the class that stands in it. */
const nameOf = ({ filename }: Program) => filename.replace(/\.\w+$/, '')
const namesOf = (programs: readonly Program[]) =>
  new Map(programs.map((program) => [program.operationId, nameOf(program)]))

const java: Runner = {
  command: 'javac',
  debianPackage: 'default-jdk-headless',
  asPasted: (shop, program, env) => shop.run('java', [save(shop, program)], env),
  all(shop, programs, env) {
    const names = namesOf(programs)
    const files = programs.map((program) => save(shop, program))
    shop.run('javac', ['-encoding', 'UTF-8', '-d', shop.folder, driver('Samples.java'), ...files])
    return sections(shop.run('java', ['-cp', shop.folder, 'Samples', ...names.values()], env), names)
  },
}

const csharp: Runner = {
  command: 'mcs',
  debianPackage: 'mono-mcs mono-runtime libmono-system-net-http4.0-cil',
  asPasted(shop, program, env) {
    shop.run('mcs', ['-r:System.Net.Http.dll', save(shop, program)])
    return shop.run('mono', [`${nameOf(program)}.exe`], env)
  },
  all(shop, programs, env) {
    const names = namesOf(programs)
    const files = programs.map((program) => save(shop, program))
    const together = join(shop.folder, 'samples.exe')
    shop.run('mcs', ['-r:System.Net.Http.dll', '-main:Samples', `-out:${together}`, driver('Samples.cs'), ...files])
    return sections(shop.run('mono', [together, ...names.values()], env), names)
  },
}

const go: Runner = {
  command: 'go',
  debianPackage: 'golang-go',
  asPasted: (shop, program, env) => shop.run('go', ['run', save(shop, program)], env),
  /** Each becomes a package of one program: to link a program for each of them takes a second of a core. */
  all(shop, programs, env) {
    const names = new Map(programs.map(({ operationId }) => [operationId, operationId.toLowerCase()]))
    for (const { operationId, filename, code } of programs) {
      const name = names.get(operationId) ?? ''
      mkdirSync(join(shop.folder, name))
      const text = code.replace(/^package main$/m, `package ${name}`).replace(/^func main\(\)/m, 'func Main()')
      shop.write(join(name, filename), text)
    }
    const calls = [...names.values()].map((name) => `\tfmt.Println("--- ${name}")\n\t${name}.Main()\n`)
    const imports = [...names.values()].map((name) => `\t"samples/${name}"\n`)
    shop.write('go.mod', 'module samples\n\ngo 1.19\n')
    shop.write(
      'main.go',
      `package main\n\nimport (\n\t"fmt"\n${imports.join('')})\n\nfunc main() {\n${calls.join('')}}\n`,
    )
    // Without optimisation, which takes longer than what it saves.
    shop.run('go', ['build', '-gcflags=-N -l', '-o', 'samples', '.'], { GO111MODULE: 'on' })
    return sections(shop.run(join(shop.folder, 'samples'), [], env), names)
  },
}

/** Where the samples find the client, as if it had been installed. */
const clientFolder = fileURLToPath(new URL('../../client/', import.meta.url))
export function installClient(shop: Workshop): void {
  shop.once('node_modules', (folder) => {
    mkdirSync(join(folder, '@backoffice'), { recursive: true })
    symlinkSync(clientFolder, join(folder, '@backoffice/client'))
  })
}
const node = { command: process.execPath, debianPackage: 'the node package', together: 'samples.mjs' }

const runners: Readonly<Record<string, Runner>> = {
  // Every system has the shell; what may be missing is curl.
  curl: { ...script({ command: 'sh', debianPackage: 'openssl, curl' }), command: 'curl' },
  php: script({ command: 'php', debianPackage: 'php-cli' }),
  python: script({ command: 'python3', debianPackage: 'python3', together: 'samples.py' }),
  ruby: script({ command: 'ruby', debianPackage: 'ruby', together: 'samples.rb' }),
  node: script(node),
  client: script({ ...node, prepare: installClient }),
  ...{ go, java, csharp },
}

export function runnerOf({ id }: SampleLanguage): Runner {
  const runner = runners[id]
  if (runner === undefined) throw new Error(`nothing runs the samples in ${id}`)
  return runner
}
