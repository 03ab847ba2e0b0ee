/** Has a database to itself, says so, and lets it go soon after. */
import Database from 'libsql';

const database = new Database(process.argv[2] ?? '');
database.pragma('locking_mode = EXCLUSIVE');
database.exec('begin immediate');
process.send?.('held');
setTimeout(() => {
  database.exec('commit');
  database.close();
  process.exit();
}, 500);
