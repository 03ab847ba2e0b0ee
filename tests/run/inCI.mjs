/** True in a run of CI, where what is missing fails instead of being left out. Services set CI to true or 1. */
export const inCI = ['true', '1'].includes(process.env.CI ?? '');
