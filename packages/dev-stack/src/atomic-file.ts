import { renameSync, writeFileSync } from 'node:fs'

/** Writes a file so that a reader sees the old text or the new one, never a part. Only the owner may read it. */
export function writeFileAtomically(file: string, text: string): void {
  const draft = `${file}.${process.pid}.new`
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, file)
}
