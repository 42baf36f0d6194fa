const adultYears = 18

/** The calendar day at a moment in a time zone, as YYYY-MM-DD. */
export function calendarDay(now: Date, timeZone: string): string {
  // The Swedish locale writes dates as ISO 8601 does.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(now)
}

/**
 * Whether the 18th birthday has been reached on a day. A birthday on 29 February is reached on 1 March in common years.
 * @param birthDate and `today` as YYYY-MM-DD
 */
export function isAdult(birthDate: string, today: string): boolean {
  const year = Number(birthDate.slice(0, 4)) + adultYears
  return `${String(year).padStart(4, '0')}${birthDate.slice(4)}` <= today
}
