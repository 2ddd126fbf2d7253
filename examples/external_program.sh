#!/bin/sh
# An objective: the miss of a ball, thrown at an angle (degrees) with a speed (m/s), at a target 20 m away and 3 m up.
#
#   thalweg minimize --command "sh examples/external_program.sh {x}" --x0 40,12 --sigma0 3 --bounds "5,85;5,30" --workers 2
#
# Any language will do: coordinates are arguments, the last line on stdout is the value, and a status other than 0 is a failure.

exec awk -v angle="$1" -v speed="$2" '
BEGIN {
    a = angle * 3.14159265358979 / 180
    vx = speed * cos(a)
    if (vx <= 0) {
        print "the ball flies backwards" > "/dev/stderr"
        exit 3
    }
    t = 20 / vx
    height = speed * sin(a) * t - 9.81 / 2 * t * t
    effort = speed * speed / 100  # prefers the slowest of all throws that hit
    print "height at the target:", height
    printf "%.17g\n", (height - 3) ^ 2 + effort
}'
