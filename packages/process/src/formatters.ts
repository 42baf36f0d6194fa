/** Formatters by locale and options: to make one takes a hundred times as long as to use it. */
function memoised<Options, Formatter>(make: (locale: string, options: Options) => Formatter) {
  const made = new Map<string, Formatter>()
  return (locale: string, options: Options): Formatter => {
    const key = `${locale} ${JSON.stringify(options)}`
    const formatter = made.get(key) ?? make(locale, options)
    made.set(key, formatter)
    return formatter
  }
}

/** @param how of which a program knows a few: each makes a formatter that is kept, here and below */
export const dateFormat = memoised((locale, how: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, how))
export const numberFormat = memoised((locale, how: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, how))
export const relativeFormat = memoised(
  (locale, options: Intl.RelativeTimeFormatOptions) => new Intl.RelativeTimeFormat(locale, options),
)
