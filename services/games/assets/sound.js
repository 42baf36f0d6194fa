/** Notes as [frequency in hertz, start in seconds, length in seconds]. */
const melodies = {
  spin: [
    [220, 0, 0.08],
    [277, 0.07, 0.08],
    [330, 0.14, 0.1],
  ],
  stop: [[131, 0, 0.09]],
  lost: [
    [196, 0, 0.14],
    [165, 0.12, 0.22],
  ],
  won: [
    [523, 0, 0.16],
    [659, 0.11, 0.16],
    [784, 0.22, 0.16],
    [1047, 0.33, 0.4],
  ],
}
const volume = 0.15

export const canSound = globalThis.AudioContext !== undefined

let context

/** Plays a melody by code: no file is loaded. Called after a click, because a browser lets no page sound before one. */
export function play(name) {
  context ??= new AudioContext()
  // A browser may have stopped it, for example while the page was in the background.
  context.resume()
  for (const [frequency, start, length] of melodies[name]) {
    const from = context.currentTime + start
    const oscillator = new OscillatorNode(context, { type: 'triangle', frequency })
    const loudness = new GainNode(context, { gain: volume })
    // Each note fades out. One that is cut off clicks.
    loudness.gain.setValueAtTime(volume, from)
    loudness.gain.exponentialRampToValueAtTime(0.001, from + length)
    oscillator.connect(loudness).connect(context.destination)
    oscillator.start(from)
    oscillator.stop(from + length)
  }
}
