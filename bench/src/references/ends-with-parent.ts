// Ends this program when the bench ends, even when the bench was killed and could stop nothing.
process.once('disconnect', () => process.exit())
