// Prints the status, the protocol and the body of a URL.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	answer, err := http.Get(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%d %d.%d\n", answer.StatusCode, answer.ProtoMajor, answer.ProtoMinor)
	io.Copy(os.Stdout, answer.Body)
}
