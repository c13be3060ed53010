export const { DATABASE_URL, COPY = 'copy-1', PORT = '3000' } = process.env;
