/** How many answers a browser is told to note of a page: of itself it notes 250, calls of the API included, and then no more. */
export const notedAnswers = 5000;
