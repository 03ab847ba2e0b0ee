// Measures how long a page keeps its own thread busy, in processor time, since its waits for other programs of a busy
// machine are not its doing.

/** Starts to look. @returns a function that stops, and answers the longest task of the page's thread, in milliseconds */
export async function watchTasks(page) {
  const session = await page.context().newCDPSession(page);
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel', '__metadata'] },
  });
  return async () => {
    const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
    await session.send('Tracing.end');
    await complete;
    await session.detach();
    return longestTask(events);
  };
}

function longestTask(events) {
  const thread = ({ pid, tid }) => `${pid} ${tid}`;
  const isPage = ({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain';
  const pages = new Set(events.filter(isPage).map(thread));
  const tasks = events.filter((event) => event.name.endsWith('RunTask') && pages.has(thread(event)));
  // One that was running when the look began or ended is without its time.
  const microseconds = tasks.flatMap(({ tdur }) => tdur ?? []);
  if (microseconds.length === 0) throw new Error('the browser has told of no task');
  return Math.max(...microseconds) / 1000;
}
