// A program of the bench ends when the bench does, even when that was killed and could end nobody.
process.once('disconnect', () => process.exit())
