// Imported into a relay under test: sets its clock ahead by CLOCK_AHEAD milliseconds, for what it keeps to be older.
const ahead = Number(process.env.CLOCK_AHEAD);
const now = Date.now;
Date.now = () => now() + ahead;
