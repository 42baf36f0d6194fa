import { readFileSync } from 'node:fs'
import type { Overlay } from './kustomize.ts'

/** Who types a command. `pipeline` is what applies the manifests, `platform` whoever looks after the cluster itself. */
export const roles = ['on-call', 'break-glass', 'pipeline', 'platform'] as const
export type GuideRole = (typeof roles)[number]

/** A line that a person can type. */
export interface GuideCommand {
  /** The guide and the heading. */
  readonly where: string
  readonly role: GuideRole
  readonly text: string
  /** What it prints, as the guide says behind `# →`; `…` stands for anything. */
  readonly shows: string | undefined
  /** Whether it stands in a block, and not among words. */
  readonly inBlock: boolean
}

export interface GuideSection {
  readonly where: string
  readonly text: string
  readonly commands: readonly GuideCommand[]
  readonly settings: readonly GuideSetting[]
  readonly edits: readonly GuideEdit[]
}

/** A change of another file, which a section asks for in words. */
export interface GuideEdit {
  /** Below deploy/k8s; with `$SIZE` as it is written. */
  readonly file: string
  readonly words: RegExp
  readonly change: (text: string) => string
  /** What is applied then, and not before. */
  readonly shown: string
}

/** A value that a person is told to write. */
export interface GuideSetting {
  /** Below deploy/k8s; with `$SIZE` as it is written. */
  readonly file: string
  readonly name: string
  readonly value: string
}

export const guides = [
  'operations.md',
  'alerts.md',
  'incidents.md',
  'runbooks/restore.md',
  'runbooks/lost-parts.md',
  'runbooks/night.md',
  'platform-upgrades.md',
]

/** What begins a command, as opposed to a name, a path, a message or a part of one. */
const program =
  /^(?:kubectl|cmctl|nats (?:stream|consumer|server)|npm (?:run|test)|npx|sh|curl|jq|openssl|dig|restart|for|(?:[A-Z]+=\$\()|ops (?:stream|consumer)|system server|select|delete from|alter role) ?\S/

export const edits: readonly GuideEdit[] = [
  {
    file: 'components/postgres/postgres.yaml',
    words: /`imageName`/,
    change: (text) => text.replace(/18\.\d+-standard/, '18.99-standard'),
    shown: '18.99-standard',
  },
  {
    file: 'components/postgres/postgres.yaml',
    words: /`serverName: postgres-19`/,
    change: (text) => text.replace(/serverName: .*/, 'serverName: postgres-19'),
    // The name of the cluster stands before it, which is another setting.
    shown: '-19"',
  },
  {
    file: 'base/nats.yaml',
    words: /[Ss]et the image/,
    change: (text) => text.replace(/nats:2\.\d+/, 'nats:2.99'),
    shown: 'nats:2.99',
  },
  {
    file: 'base/namespace.yaml',
    words: /`enforce-version`/,
    change: (text) => text.replace(/enforce-version: .*/, 'enforce-version: v1.99'),
    shown: 'v1.99',
  },
  {
    file: 'components/tls/authority.yaml',
    words: /second authority/,
    change: (text) => {
      const authority = text.split(/^---$/m).find((part) => /name: backoffice-authority$/m.test(part)) ?? ''
      return `${text.trimEnd()}\n---\n${authority.replaceAll('backoffice-authority', 'backoffice-authority-2')}`
    },
    shown: 'backoffice-authority-2',
  },
  {
    file: 'overlays/$SIZE/team-identity/machines.json',
    words: /make-machine\.sh/,
    change: () => '[{"name":"ledger-export","roles":["finance"]}]',
    shown: 'ledger-export',
  },
]

const isRole = (word: string): word is GuideRole => (roles as readonly string[]).includes(word)

export const sections: readonly GuideSection[] = guides.flatMap((guide) =>
  readFileSync(new URL(`../../docs/${guide}`, import.meta.url), 'utf8')
    .split(/^(?=##+ )/m)
    .map((text) => {
      const where = `${guide}, ${text.split('\n', 1)[0]}`
      return {
        where,
        text,
        commands: commandsIn(text, where),
        settings: settingsIn(text),
        edits: edits.filter(({ words }) => words.test(text)),
      }
    }),
)

/**
 * The commands of a section in their order. A role that is named, in words before a command of the same line or in a
 * block above it, holds to the end of that line or block; where none is, it is `on-call`.
 */
function commandsIn(section: string, where: string): readonly GuideCommand[] {
  const commands: GuideCommand[] = []
  let role: GuideRole = 'on-call'
  let isBlock = false
  for (const line of section
    .replaceAll(/\\\n */g, '')
    .split('\n')
    .map((each) => each.trim())) {
    if (line.startsWith('```')) {
      isBlock = line === '```sh'
      role = 'on-call'
    } else if (isBlock) {
      const [text = '', shows] = line.split(/(?:^| +)# (?:→ )?/)
      if (text !== '')
        commands.push({ where, role, text, shows: line.includes('# →') ? shows : undefined, inBlock: true })
      else if (shows !== undefined && isRole(shows)) role = shows
    } else {
      role = 'on-call'
      for (const [, span = ''] of line.matchAll(/`([^`]+)`/g)) {
        const text = span.replaceAll('\\|', '|')
        if (isRole(text)) role = text
        else if (program.test(text)) commands.push({ where, role, text, shows: undefined, inBlock: false })
      }
    }
  }
  return commands
}

/** `NAME=value` in `file.env`, or a line of a table with both. */
function settingsIn(section: string): readonly GuideSetting[] {
  return [
    ...section.matchAll(/`(?<name>[A-Z_]+)=(?<value>[^`]+)` (?:in|into) `(?<file>[\w/$-]+\.env)`/g),
    ...section.matchAll(/\| `(?<file>[\w/$-]+\.env)` \| `(?<name>[A-Z_]+)=(?<value>[^`]+)`/g),
  ].map(({ groups }) => {
    const { name, value, file } = groups as Record<'name' | 'value' | 'file', string>
    return { name, value, file: placeOf(file) }
  })
}

/** Where below deploy/k8s a file is whose short name is in a guide. */
export function placeOf(file: string): string {
  return file.includes('/') ? file : `overlays/$SIZE/${file}`
}

/** `$SIZE` is the overlay that is in service. */
export const inSize = (text: string, size: Overlay) => text.replaceAll('$SIZE', size)

/** Functions of the shell that the guide defines once and uses everywhere. */
export const functions = sections
  .flatMap(({ commands }) => commands)
  .filter(({ text }) => /^\w+\(\) \{/.test(text))
  .map(({ text }) => text)
