// Looks for byte strings in files and in the memory of processes, whatever of it the kernel shows to
// root: also what is left out of core dumps.
//
//     search NEEDLES PATH...      files, and all files below folders
//     search NEEDLES pid NUMBER   a process, which should stand still
//
// NEEDLES is a file: of each needle its length, 4 bytes in native order, and its bytes. Each hit is
// a line `hit NEEDLE OFFSET PLACE`; of a process the last line is
// `searched BYTES EXCLUDED UNREADABLE`, where EXCLUDED are bytes of mappings that core dumps leave out.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { chunk = 4 << 20, pairs = 1 << 16 };

struct needle {
    uint32_t length;
    int32_t next;
    const unsigned char *bytes;
};

static struct needle *needles;
static int needle_count;
static size_t longest;
static int32_t heads[pairs];
static int starts_with_zero;
static unsigned char *buffer;

static void die(const char *what) {
    perror(what);
    exit(2);
}

static void read_needles(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) die(path);
    memset(heads, 0xff, sizeof heads);
    uint32_t length;
    while (fread(&length, sizeof length, 1, file) == 1) {
        unsigned char *bytes = malloc(length);
        needles = realloc(needles, (size_t)(needle_count + 1) * sizeof *needles);
        if (length < 2 || !bytes || !needles || fread(bytes, length, 1, file) != 1) die("needles");
        int pair = bytes[0] | bytes[1] << 8;
        needles[needle_count] = (struct needle){length, heads[pair], bytes};
        heads[pair] = needle_count++;
        if (length > longest) longest = length;
        if (pair == 0) starts_with_zero = 1;
    }
    fclose(file);
}

static int is_zero(const unsigned char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word == 0;
}

// Looks at the first `fresh` places of the bytes.
static void look(const unsigned char *bytes, size_t count, size_t fresh, uint64_t base,
                 const char *place) {
    for (size_t at = 0; at < fresh && at + 1 < count; at++) {
        // Most of a memory is empty.
        while (!starts_with_zero && at + 8 < fresh && is_zero(bytes + at)) at += 8;
        int32_t index = heads[bytes[at] | bytes[at + 1] << 8];
        for (; index >= 0; index = needles[index].next) {
            size_t length = needles[index].length;
            if (length <= count - at && memcmp(bytes + at, needles[index].bytes, length) == 0)
                printf("hit %d %" PRIu64 " %s\n", index, base + at, place);
        }
    }
}

// Looks at a range of an open file, in pieces that overlap by the longest needle. Answers how many
// bytes could be read.
static uint64_t look_through(int file, uint64_t begin, uint64_t end, const char *place) {
    size_t kept = 0;
    uint64_t offset = begin, read_bytes = 0;
    for (;;) {
        size_t wanted = chunk - kept;
        if (end - offset < wanted) wanted = end - offset;
        ssize_t count = wanted ? pread(file, buffer + kept, wanted, (off_t)offset) : 0;
        if (count <= 0) break;
        read_bytes += (uint64_t)count;
        size_t whole = kept + (size_t)count;
        size_t rest = whole < longest ? whole : longest - 1;
        look(buffer, whole, whole - rest, offset - kept, place);
        memmove(buffer, buffer + whole - rest, rest);
        offset += (uint64_t)count;
        kept = rest;
    }
    look(buffer, kept, kept, offset - kept, place);
    return read_bytes;
}

static int look_at_file(const char *path, const struct stat *status, int kind, struct FTW *walk) {
    (void)walk;
    if (kind != FTW_F || !S_ISREG(status->st_mode)) return 0;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0) return 0;
    look_through(file, 0, UINT64_MAX, path);
    close(file);
    return 0;
}

static void look_at_process(const char *pid) {
    char path[64], line[8192], range[64] = "", rights[8] = "", name[4096] = "", place[8192];
    uint64_t begin = 0, end = 0, searched = 0, excluded = 0, unreadable = 0;
    snprintf(path, sizeof path, "/proc/%s/smaps", pid);
    FILE *maps = fopen(path, "r");
    snprintf(path, sizeof path, "/proc/%s/mem", pid);
    int memory = open(path, O_RDONLY | O_CLOEXEC);
    if (maps == NULL || memory < 0) die(path);
    while (fgets(line, sizeof line, maps)) {
        uint64_t from, to;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %4095[^\n]", &from, &to, rights,
                   name) >= 3 && strchr(line, '-') < strchr(line, ' ')) {
            begin = from;
            end = to;
            snprintf(range, sizeof range, "%" PRIx64 "-%" PRIx64, from, to);
            if (sscanf(line, "%*s %*s %*s %*s %*s %4095[^\n]", name) != 1) name[0] = 0;
        } else if (strncmp(line, "VmFlags:", 8) == 0) {
            // Nothing stands where nothing may be read (reservations, guard pages), and nothing
            // that is not in the file where a program or library lies that may not be written.
            if (rights[0] != 'r' || (rights[1] != 'w' && name[0] == '/')) continue;
            int is_excluded = strstr(line, " dd") != NULL;
            snprintf(place, sizeof place, "%s %s%s %s", range, rights,
                     is_excluded ? " not-in-dumps" : "", name);
            uint64_t count = look_through(memory, begin, end, place);
            searched += count;
            if (is_excluded) excluded += count;
            if (count < end - begin && name[0] != '[') unreadable += end - begin - count;
        }
    }
    printf("searched %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", searched, excluded, unreadable);
}

int main(int count, char **words) {
    if (count < 3) return 2;
    read_needles(words[1]);
    buffer = malloc(chunk);
    if (buffer == NULL || longest >= chunk) die("buffer");
    if (strcmp(words[2], "pid") == 0) {
        look_at_process(words[3]);
        return 0;
    }
    for (int index = 2; index < count; index++)
        if (nftw(words[index], look_at_file, 32, FTW_PHYS) != 0 && errno != ENOENT)
            die(words[index]);
    return 0;
}
