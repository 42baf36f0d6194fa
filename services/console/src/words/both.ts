/** A text that is longer than a line, in each language: English, and Portuguese below it. */
export const both = ([text = '']: TemplateStringsArray): readonly [english: string, portuguese: string] => {
  const [english = '', portuguese = ''] = text.split('\n').map((line) => line.trim())
  return [english, portuguese]
}
