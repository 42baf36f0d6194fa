import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Every file below a folder, as one. @param part only of folders whose path ends so */
export const bytesBelow = (folder: string, part = ''): Buffer =>
  Buffer.concat(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile() && file.parentPath.endsWith(part))
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name))),
  )
