// Fills a relay's SQLite with accounts, whose names are as people's: few names, and what makes them differ.
import path from 'node:path';
import Database from 'libsql';

const given =
  'aino eero matti maija liisa kalle juhani anna maria johannes helena olavi antero kaarina mikael tapani emma oliver james mary john patricia robert jennifer michael linda'.split(
    ' ',
  );
const family =
  'virtanen korhonen makinen nieminen makela hamalainen laine heikkinen koskinen jarvinen smith johnson williams brown jones garcia miller davis'.split(
    ' ',
  );
const marks = ['', '.', '_', '-'];

/** Numbers from 0 to 1 that are the same in each run: a linear congruential generator. */
export function sequence(seed) {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const one = (list, random) => list[Math.floor(random() * list.length)];
const nameOf = (random) =>
  `${one(given, random)}${one(marks, random)}${one(family, random)}${Math.floor(random() * 1e6)}`;

/** As people type: the beginning of a name, a part from its middle, two letters, the whole of it, and nothing that is there. */
export function queryOf(random) {
  const name = nameOf(random);
  const at = Math.floor(random() * (name.length - 3));
  return one(
    [
      name,
      name.slice(0, 2),
      name.slice(0, 3),
      name.slice(0, 6),
      name.slice(at, at + 3),
      name.slice(at, at + 5),
      name.slice(-4),
      one(family, random),
      'qzx',
    ],
    random,
  );
}

/** @returns {number} how many there are: of equal names only one is kept */
export function fillNames(folder, count) {
  const database = new Database(path.join(folder, 'relay.db'));
  const random = sequence(1);
  try {
    database.pragma('synchronous = OFF');
    const insert = database.prepare(
      `insert or ignore into users (id, username, username_key, email, email_key, full_name, password_hash,
         password_salt, password_ops_limit, password_mem_limit, consented_at, created_at)
       values (?, ?, ?, ?, ?, ?, '', x'', 3, 134217728, 0, 0)`,
    );
    for (let index = 0; index < count; ) {
      database.exec('begin');
      for (const end = Math.min(count, index + 20_000); index < end; index += 1) {
        const [name, id] = [nameOf(random), `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`];
        insert.run([id, name, name, `${id}@example.org`, `${id}@example.org`, name]);
      }
      database.exec('commit');
      database.pragma('wal_checkpoint(PASSIVE)');
    }
    return database.prepare('select count(*) as found from users').get().found;
  } finally {
    database.close();
  }
}
